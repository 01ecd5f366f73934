#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Deferred callchains with tracers that come and go, by a module.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tests/kernel/selftests/build >&2
tests/kernel/selftests/build module >&2
guest tracers --rootfs=none "build/module/$kernel/sframe_tracer.ko" tracer_test
