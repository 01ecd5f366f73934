#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: BPF programs, Debian's bpftrace and kprobes have exact stacks of
# python3 under sfjit run, and none has one without windows.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest readers "--cpus=1 --with=bpftrace,libc6-dev" tests/system/readers/bpf.py
