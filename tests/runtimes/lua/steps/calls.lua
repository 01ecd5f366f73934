-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Functions that call functions, and return them.
local step = ...
local Account = {}
Account.__index = Account

function Account.new()
	return setmetatable({ sum = 0 }, Account)
end

function Account:add(n)
	self.sum = self.sum + n
	return self
end

local function fib(n)
	if n < 2 then
		return n
	end
	return fib(n - 1) + fib(n - 2)
end

local function maker(n)
	return function(x)
		return x + n
	end
end

local function returns_itself()
	return returns_itself
end

local function many(...)
	local a, b = ...
	return b, a, ...
end

local function last(n)
	if n > 0 then
		return last(n - 1)
	end
	return n
end
last = last

local function tail(n, ...)
	if n == 0 then
		return many(...)
	end
	return tail(n - 1, n, ...)
end

local function down(n)
	local a, b, c, d = 1, 2, 3, 4
	if n == 0 then
		return a + b + c + d
	end
	return down(n - 1) + 1
end

local function field(t)
	return t.x + t.y + #t
end

local function all()
	fib(6)
	for i = 1, 5 do
		local make = maker(i)
		make(maker(make(i))(1))
	end
	local account = Account.new()
	for i = 1, 5 do
		account:add(i):add(i)
	end
	many(1, 2, 3)
	tail(3)
	down(30)
	field({ x = 1, y = 2, 3 })
	local t = {}
	for i = 1, 20 do
		t[i] = maker(i)
	end
	for _, f in ipairs(t) do
		f(1)
	end
end

all()
step(true)
all()
step(false)
