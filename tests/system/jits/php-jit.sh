# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# 0x110: tells debuggers, and perf, what it has compiled.
record php-jit "$mode" php -d opcache.enable_cli=1 -d opcache.jit=tracing \
	-d opcache.jit_buffer_size=32M -d opcache.jit_debug=272 \
	"$dir/php.php" "$out/php-jit.$mode.truth" "$seconds"
