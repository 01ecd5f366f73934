# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: redis-server redis-tools
attach redis-server "redis-server --port 6399 --save '' --appendonly no" \
	"redis-cli -p 6399 ping" \
	"seq 2500 | sed 's/.*/LPUSH list & &/' | redis-cli -p 6399 >/dev/null
	seq 6 | sed 's/.*/SORT list LIMIT 0 1/' | redis-cli -p 6399 | sort | uniq -c
	redis-cli -p 6399 eval 'local s = 0 for i = 1, 60000 do s = s + i % 7 end return s' 0"
