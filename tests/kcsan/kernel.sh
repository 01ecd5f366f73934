#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Data races between changes of windows, and with callchains in NMIs that hit
# them.

exec "$(dirname "$0")/../module/checked" kcsan nmi_test life_test
