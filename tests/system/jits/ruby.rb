# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# Methods, blocks called by C, exceptions, fibers, two threads.
require 'json'
require 'zlib'

def stamp(what)
  now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  File.write(ARGV[0], format("%s %d.%09d\n", what, now / 10**9, now % 10**9),
             mode: 'a')
  now
end

def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

def below(n)
  raise ArgumentError, 'out' if n.zero?

  below(n - 1)
end

def work
  fib(14)
  (1..300).map { |i| i * 7919 % 1009 }.sort { |a, b| b <=> a }
  begin
    below(20)
  rescue ArgumentError => e
    e.backtrace
  end
  Fiber.new { 50.times { |i| Fiber.yield i } }.resume
  JSON.parse(JSON.generate('a' => [{ 'b' => [1, 2.5, 'c'] }] * 40))
  ('a stack of frames ' * 40).gsub(/[aeiou]+/) { |m| m.upcase }
  Zlib.inflate(Zlib.deflate('frames' * 2000))
end

last = stamp('begin') + ARGV[1].to_i * 10**9
thread = Thread.new do
  work while Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) < last
end
work while Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) < last
thread.join
stamp('end')
