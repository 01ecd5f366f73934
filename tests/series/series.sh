#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: each mail of the kernel series applies, has the kernel's style
# and builds.
exec tools/series --build
