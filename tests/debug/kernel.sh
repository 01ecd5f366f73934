#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Callchains in NMIs, the KUnit suites, and each allocation failing in turn.

exec "$(dirname "$0")/../module/checked" debug nmi_test failslab_test
