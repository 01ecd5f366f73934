-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Calls that do not return.
local step, mark = ...

local function fails(n)
	if n == 0 then
		error("no")
	end
	fails(n - 1)
end

local function arithmetic(t)
	return t.a + {}
end

local function handler(message)
	return #message
end

local function again(message)
	return pcall(error, message)
end

local bad = setmetatable({}, {
	__index = function(t, k)
		error(k)
	end,
	__lt = function(a, b)
		return a.x
	end,
})

local function compares()
	table.sort({ bad, setmetatable({}, getmetatable(bad)), bad })
end

local function loops()
	for i = 1, 2, "x" do
		handler("")
	end
end

local function zero()
	for i = 1, 2, 0 do
		handler("")
	end
end

local function closes()
	local x <close> = setmetatable({}, { __close = function(t)
		mark()
		t.x = 1
	end })
	fails(1)
end

local function try(f, ...)
	return pcall(f, ...)
end

local function all()
	try(fails, 3)
	xpcall(fails, handler, 2)
	xpcall(arithmetic, again, {})
	xpcall(loops, handler)
	xpcall(zero, handler)
	try(compares)
	try(try, fails, 1)
	try(function()
		return bad.x
	end)
	try(closes)
	pcall(string.rep)
	pcall(load("return ... + 1", "=loaded"), {})
	load("x =")
end

all()
step(true)
all()
step(false)
