-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Stacks that are left and taken again.
local step = ...
local yield, wrap = coroutine.yield, coroutine.wrap

local function leaf(n)
	return n + 1
end

local function inner(n)
	yield(leaf(n))
	return leaf(n)
end

local function protected(n)
	local ok, r = pcall(inner, n)
	leaf(n)
	return r
end

local function sorts()
	local t = { 3, 1, 2 }
	table.sort(t, function(a, b)
		return leaf(a) < leaf(b)
	end)
end

local proxy = setmetatable({}, { __index = function(t, k)
	yield(k)
	sorts()
	return leaf(1)
end })

local function body(a)
	inner(a)
	protected(a)
	sorts()
	local x = proxy.x
	for i in wrap(function()
		for i = 1, 3 do
			yield(i)
		end
	end) do
		leaf(i)
	end
	pcall(pcall, function()
		yield(1)
		sorts()
		error("x")
	end)
	return leaf(a)
end

local function drive(co)
	local ok, n = true, 1
	while ok and coroutine.status(co) ~= "dead" do
		ok, n = coroutine.resume(co, n)
	end
end

local function nested(n)
	if n == 0 then
		inner(1)
	else
		drive(coroutine.create(function()
			nested(n - 1)
			yield(n)
			leaf(n)
		end))
	end
end
nested = nested

local function closed()
	local co = coroutine.create(function()
		local x <close> = setmetatable({}, { __close = function()
			leaf(1)
		end })
		yield(1)
	end)
	coroutine.resume(co)
	coroutine.close(co)
end

local function fails()
	local f = wrap(function()
		inner(1)
		error("y")
	end)
	f()
	pcall(f)
end

local function all()
	drive(coroutine.create(body))
	local f = wrap(inner)
	f(1)
	f()
	closed()
	fails()
	local co = coroutine.create(function()
		drive(coroutine.create(body))
		yield(1)
		drive(coroutine.create(protected))
	end)
	drive(co)
end

all()
step(true)
all()
step(false)
