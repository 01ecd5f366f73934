#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: what sfjit run --reasons saves of sfjit ps, and sfjit explain makes
# of it.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest reasons --cpus=1 tests/sfjit/guest_reasons.sh
