#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the litmus tests of tables that grow, see order.py.

cd "$(dirname "$0")/../../.." || exit
exec python3 -B tests/kernel/race/order.py Documentation/litmus/*.litmus
