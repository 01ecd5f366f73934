# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record php "$mode" php "$dir/php.php" "$out/php.$mode.truth" "$seconds"
