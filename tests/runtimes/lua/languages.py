# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Python calls Lua calls Python calls Lua, for argv[1] seconds: from a function,
and from a coroutine."""

import ctypes
import sys
import time

lua = ctypes.CDLL("liblua5.4.so.0", mode=ctypes.RTLD_GLOBAL)
lua.luaL_newstate.restype = ctypes.c_void_p
lua.lua_tolstring.restype = ctypes.c_char_p
Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

PROGRAM = b"""
function hot(n)
  local sum = 0
  for i = 1, n do sum = sum + i % 7 end
  return sum
end
function inner()

  local sum = hot(200000)
  return sum
end
function outer()

  local sum = back()
  return sum
end
local function body()
  while true do
    local sum = back()
    coroutine.yield(sum)
  end
end
local work = coroutine.wrap(body)
function resume()
  local sum = work()
  return sum
end
"""


def must(state, status):
    if status:
        raise RuntimeError(lua.lua_tolstring(state, -1, None).decode())


def call(state, name):
    lua.lua_getglobal(state, name)
    must(state, lua.lua_pcallk(state, 0, 0, 0, ctypes.c_long(0), None))


def run(state, text, name):
    must(state, lua.luaL_loadbufferx(state, text, ctypes.c_long(len(text)),
                                     name, None))
    must(state, lua.lua_pcallk(state, 0, 0, 0, ctypes.c_long(0), None))


@Function
def back(state):
    call(ctypes.c_void_p(state), b"inner")
    return 0


def main(seconds):
    state = ctypes.c_void_p(lua.luaL_newstate())
    lua.luaL_openlibs(state)
    run(state, b"require 'sfjit'", b"=load")
    run(state, PROGRAM, b"=program")
    lua.lua_pushcclosure(state, back, 0)
    lua.lua_setglobal(state, b"back")
    until = time.process_time() + seconds
    while time.process_time() < until:
        call(state, b"outer")
        call(state, b"resume")


main(float(sys.argv[1]))
