#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Each check of the decoder is taken out in turn: some test has to mind.

cd "$(dirname "$0")/../.." || exit 1
make -s fuzz-replays >&2 || exit 1
exec tests/mutation/run-mutants
