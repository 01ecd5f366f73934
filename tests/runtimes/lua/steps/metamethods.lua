-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Functions that luaV_execute calls through C, and those that C calls.
local step, mark = ...
local mt = {}

local function value(t)
	return t.value
end

local function new(n)
	return setmetatable({ value = n }, mt)
end

function mt.__add(a, b)
	return new(value(a) + value(b))
end

function mt.__eq(a, b)
	return value(a) == value(b)
end

function mt.__lt(a, b)
	return value(a) < value(b)
end

function mt.__concat(a, b)
	return tostring(a) .. "|" .. tostring(b)
end

function mt.__tostring(a)
	return "v" .. value(a)
end

function mt.__call(self, n)
	return value(self) + n
end

function mt.__index(t, k)
	return function()
		return k
	end
end

function mt.__newindex(t, k, v)
	rawset(t, k, v)
end

function mt.__close(t)
	value(t)
end

local function closes()
	local a <close> = new(1)
	local b <close> = new(2)
	return value(a) + value(b)
end

local function range(n)
	return function(max, i)
		if i < max then
			return i + 1
		end
	end, n, 0
end

local function finalized()
	setmetatable({}, { __gc = function(t)
		mark()
		t.value = t.value
	end })
end

local function sorts()
	local t = { 5, 3, 9, 1, 7 }
	table.sort(t, function(a, b)
		return new(a) < new(b)
	end)
	return (("a b c"):gsub("%a", function(c)
		return c .. c
	end))
end

local function all()
	local a, b = new(1), new(2)
	local c = a + b
	local same = a == b
	local text = a .. b
	a(5)
	a.missing()
	a.other = 3
	closes()
	for i in range(4) do
		value(a)
	end
	sorts()
	finalized()
	collectgarbage()
	return same, text, c
end

all()
step(true)
all()
step(false)
