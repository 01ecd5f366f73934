# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: luajit
cat >fib.lua <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 40000 do t[i] = (i * 7919) % 100003 end
table.sort(t)
local s = {}
for i = 1, 5000 do s[#s + 1] = string.format("%d:%s", t[i], tostring(i)) end
print(fib(24), t[1000], #table.concat(s, ","), table.concat(s):gsub("1", "x"):len())
END
run luajit fib.lua
run luajit -joff fib.lua
