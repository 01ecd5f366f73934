#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit attach and detach under load, SFJIT_ATTACH_ROUNDS (50)
# times, of a process that must not notice.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
rounds=${SFJIT_ATTACH_ROUNDS:-50}
guest attach-rounds "--timeout=$((rounds * 60 + 3600))" \
	"tests/sfjit/guest_attach_rounds.sh $rounds"
