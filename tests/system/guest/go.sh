#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: stacks of programs of Go on the patched kernel, by the table that
# their runtime has.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
go=${SFJIT_GOLANG:-$(tools/golang 2>/dev/null)} ||
	skip_all "no programs of Go (SFJIT_GOLANG or tools/golang)"
rm -rf "$O/tests/golang"
mkdir -p "$O/tests/golang"
cp "$go"/static-* "$go"/cgo-pie-* "$O/tests/golang"
also tools/guest --name=go --timeout=3600 -- tests/sfjit/guest_go.sh
finish
