-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Known calls, for as many seconds as the argument says.

local function leaf(n)
	local sum = 0
	for i = 1, n do
		sum = sum + i % 7
	end
	return sum
end

local function compare(a, b)
	local x, y = leaf(a), leaf(b)
	return x < y
end

local function sorted()
	local t = { 90, 20, 70, 50, 30 }
	table.sort(t, compare)
	return t[1]
end

local function guarded()
	local ok, sum = pcall(leaf, 300)
	local bad = pcall(error, "x")
	return ok, bad, sum
end

local proxy = setmetatable({}, {
	__index = function(t, k)
		local sum = leaf(k)
		return sum
	end,
})

local function body()
	while true do
		local sum = leaf(300)
		coroutine.yield(sum)
		sorted()
	end
end

local function outer(seconds)
	local work = coroutine.wrap(body)
	local until_ = os.clock() + seconds
	while os.clock() < until_ do
		leaf(300)
		sorted()
		guarded()
		local sum = proxy[300]
		work()
	end
end

outer(tonumber(arg[1]))
