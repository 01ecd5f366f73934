# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Six seconds of blocks, strings, patterns, exceptions, threads, fibers.
require 'json'

STOP = Time.now + 6

def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

def raise_below(depth)
  raise 'out' if depth == 0
  raise_below(depth - 1)
end

def work
  fib(14)
  (1..500).map { |i| (i * 7919) % 1009 }.sort_by { |x| -x }.each_slice(7).map(&:sum)
  ('a stack of frames ' * 40).gsub(/[aeiou]+/) { |m| m.upcase * 2 }
  JSON.parse(JSON.generate({ 'a' => [1, 2.5, { 'b' => 'c' * 30 }] * 40 }))
  50.times { begin raise_below(10) rescue RuntimeError end }
  Fiber.new { 20.times { |i| Fiber.yield i } }.then { |f| 20.times { f.resume } }
  (2**2000).to_s.each_char.tally
  %w[x y z].permutation.map(&:join).grep(/x/)
end

thread = Thread.new { work while Time.now < STOP }
work while Time.now < STOP
thread.join
