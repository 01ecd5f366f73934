// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
// Six seconds of exceptions, threads, signal handlers, aligned stacks.
#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <immintrin.h>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <thread>
#include <vector>

using clock_type = std::chrono::steady_clock;

static const auto stop = clock_type::now() + std::chrono::seconds(6);

struct guard {
	std::vector<int> &log;
	~guard() { log.push_back(log.size()); }
};

static int __attribute__((noinline)) fall(std::vector<int> &log, int depth)
{
	guard g{log};

	if (!depth)
		throw std::runtime_error(std::to_string(log.size()));
	return fall(log, depth - 1) + 1;
}

// The stack is aligned for what needs it.
static float __attribute__((noinline, target("avx")))
aligned(const std::function<float(int)> &f, int n)
{
	alignas(64) float sums[16] = {};
	float *more = static_cast<float *>(__builtin_alloca(n * sizeof(*more)));

	for (int i = 0; i < n; i++)
		sums[i & 15] += more[i] = f(i);
	return *std::max_element(sums, sums + 16);
}

static volatile unsigned long spins;

static void on_alarm(int)
{
	for (int i = 0; i < 20000; i++)
		spins = spins + 1;
}

static void on_own_stack(int)
{
	on_alarm(0);
}

static void __attribute__((noreturn, noinline)) leave(std::jmp_buf to)
{
	on_alarm(0);
	std::longjmp(to, 1);
}

// The call is the last thing in it.
static void __attribute__((noinline)) call_last(std::jmp_buf to)
{
	volatile char frame[200];

	frame[spins % sizeof(frame)] = 0;
	leave(to);
}

static void work()
{
	std::jmp_buf here;
	std::vector<int> log;
	std::map<std::string, int> words;
	std::istringstream text("the stack of a frame is a frame of the stack");
	std::regex pattern("([a-z]+)[aeiou]([a-z]*)");
	std::string word;

	try {
		fall(log, 20);
	} catch (const std::exception &e) {
		log.push_back(std::string(e.what()).size());
	}
	while (text >> word)
		words[std::regex_replace(word, pattern, "$2-$1")]++;
	aligned([&](int i) { return i * 1.5f + log.size(); }, 200);
	std::sort(log.begin(), log.end(), [](int a, int b) {
		return std::to_string(a) > std::to_string(b);
	});
	if (!setjmp(here))
		call_last(here);
	raise(SIGUSR1);
	raise(SIGUSR2);
}

static void until_stop()
{
	while (clock_type::now() < stop)
		work();
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {};

	action.sa_handler = handler;
	action.sa_flags = flags | SA_RESTART;
	sigaction(signal, &action, nullptr);
}

int main()
{
	static char stack[1 << 16];
	const stack_t own = { stack, 0, sizeof(stack) };
	const itimerval every = { { 0, 3000 }, { 0, 3000 } };

	sigaltstack(&own, nullptr);
	handle(SIGALRM, on_alarm, 0);
	handle(SIGUSR1, on_alarm, SA_NODEFER);
	handle(SIGUSR2, on_own_stack, SA_ONSTACK);
	setitimer(ITIMER_REAL, &every, nullptr);
	std::thread first(until_stop);
	while (clock_type::now() < stop)
		std::thread([] { work(); }).join();
	first.join();
}
