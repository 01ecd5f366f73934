#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Calls with generated arguments, as many as take half a minute.

exec "$(dirname "$0")/../prctl/generated-calls" 1000000
