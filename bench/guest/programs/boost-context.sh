# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: g++ libboost-context-dev
cat >work.cc <<'END'
#include <boost/context/fiber.hpp>
#include <cstdio>
#include <map>
#include <string>
namespace ctx = boost::context;
static long sum;
static void work(int i) {
	std::map<std::string, int> m;
	for (int j = 0; j < 40; j++) m[std::to_string(j * i % 41)] = j;
	for (auto &p : m) sum += p.second;
}
int main() {
	for (int round = 0; round < 30; round++) {
		ctx::fiber f{[](ctx::fiber &&back) {
			for (int i = 0; i < 30; i++) { work(i); back = std::move(back).resume(); }
			return std::move(back);
		}};
		while (f) f = std::move(f).resume();
	}
	printf("%ld\n", sum);
}
END
! once || g++ -O2 -o /tmp/boost.work work.cc -lboost_context >&2
run /tmp/boost.work
