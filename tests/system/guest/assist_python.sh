#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Python without trampolines, which the kernel asks for its functions: the stacks
# that perf gets, each of them judged by known calls.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest assist-python --cpus=1 tests/runtimes/python/guest_assist_python.sh
