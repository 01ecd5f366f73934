# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

# A server and its clients.
redis-server --save '' --port 7000 --io-threads 2 --daemonize no &
until redis-cli -p 7000 ping; do sleep 0.1; done
redis-benchmark -p 7000 -q -n 3000 -r 500 -P 4 \
	-t set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset
redis-cli -p 7000 eval 'local t = {} for i = 1, 30000 do
	t[i] = string.format("%d", i * 7919 % 1009)
	redis.call("zadd", "z", i, t[i]) end table.sort(t) return #t' 0
redis-cli -p 7000 save
redis-cli -p 7000 sort mylist limit 0 10 desc
redis-cli -p 7000 shutdown nosave
wait
