-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Traces, the interpreter, a callback from C (qsort), errors, coroutines.
local ffi = require 'ffi'

ffi.cdef [[
struct timespec { long sec, nsec; };
int clock_gettime(int clock, struct timespec *now);
void qsort(void *base, size_t nr, size_t size,
	   int (*compare)(const int *, const int *));
]]

local now = ffi.new 'struct timespec'
local sum = 0

local function clock()
	ffi.C.clock_gettime(1, now)
	return tonumber(now.sec) + tonumber(now.nsec) / 1e9
end

local function stamp(what)
	local file = assert(io.open(arg[1], 'a'))

	clock()
	file:write(string.format('%s %d.%09d\n', what, tonumber(now.sec),
		tonumber(now.nsec)))
	file:close()
end

local compare = ffi.cast('int (*)(const int *, const int *)', function(a, b)
	for i = 1, 20 do
		sum = sum + i
	end
	return a[0] - b[0]
end)

local function trace(n)
	for i = 1, 4000 do
		sum = (sum * 31 + i + n) % 65521
	end
end

local function sorted(n)
	local list = ffi.new('int[8]', 5, 3, 8, 1, n)

	ffi.C.qsort(list, 8, 4, compare)
	return list[0]
end

local function strings(n)
	local parts = {}

	for i = 1, 40 do
		parts[i] = string.format('%d/%s', i, tostring(n)):gsub('%d', 'x')
	end
	return #table.concat(parts)
end

local function failing(n)
	if n == 0 then
		error 'out'
	end
	failing(n - 1)
end

local routine = coroutine.wrap(function()
	while true do
		trace(1)
		coroutine.yield()
	end
end)

jit.off(sorted)
stamp 'begin'
local last = clock() + tonumber(arg[2])
while clock() < last do
	for n = 1, 50 do
		trace(n)
		sum = sum + strings(n)
	end
	sorted(3)
	pcall(failing, 10)
	routine()
end
stamp 'end'
