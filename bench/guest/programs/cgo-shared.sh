# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: golang-go gcc libc6-dev
cat >go.mod <<'END'
module work
END
cat >work.go <<'END'
package main

import "C"

//export weigh
func weigh(n C.int) C.long {
	sum := 0
	for i := 0; i < 2000; i++ {
		sum += (i * int(n)) % 7
	}
	return C.long(sum)
}

func main() {}
END
export GOFLAGS=-buildvcs=false GOCACHE=/tmp/gocache
if once; then
	mkdir -p /tmp/cgo-shared
	go build -buildmode=c-shared -o /tmp/cgo-shared/libweigh.so . >&2
	printf '%s\n' '#include <stdio.h>' '#include "cgo.h"' \
		'int main(void) { printf("%ld\n", sum_weights(300)); return 0; }' >main.c
	gcc -O2 -I "$here" -o /tmp/cgo-shared/work main.c "$here/cgo.c" \
		/tmp/cgo-shared/libweigh.so >&2
fi
run /tmp/cgo-shared/work
