# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: golang-go gcc libc6-dev
cat >go.mod <<'END'
module work
END
cp "$here/cgo.c" "$here/cgo.h" .
cat >work.go <<'END'
package main

// #include "cgo.h"
import "C"

//export weigh
func weigh(n C.int) C.long {
	sum := 0
	for i := 0; i < 2000; i++ {
		sum += (i * int(n)) % 7
	}
	return C.long(sum)
}

func main() { println(C.sum_weights(300)) }
END
export GOFLAGS=-buildvcs=false GOCACHE=/tmp/gocache
! once || go build -o /tmp/cgo.work . >&2
run /tmp/cgo.work
