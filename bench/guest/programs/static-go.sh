# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: golang-go
cat >go.mod <<'END'
module work
END
cat >work.go <<'END'
package main

import "os"

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	os.Stdin.Read(make([]byte, 1))
	m := map[int]string{}
	for i := 0; i < 40000; i++ {
		m[i*7919%100003] = string(rune('a'+i%26)) + "x"
	}
	println(fib(26), len(m))
}
END
export GOFLAGS=-buildvcs=false GOCACHE=/tmp/gocache CGO_ENABLED=0
! once || go build -o /tmp/work-go . >&2
attach_waiting work-go /tmp/work-go
