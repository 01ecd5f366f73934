/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * sfjit.so, the module for Lua 5.4: functions of Lua in the call chains of the
 * kernel, see sfjit-assist.h.
 *
 * A Lua program loads it by require "sfjit". A host program calls luaopen_sfjit,
 * as by luaL_requiref(), or what follows.
 */
#ifndef SFJIT_LUA_H
#define SFJIT_LUA_H

#include <lua.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * sfjit_lua_attach - have the functions of a Lua state in call chains
 * @L:	any thread of the state, which is at rest or runs the caller
 *
 * The state is its main thread and all coroutines. It is left when it is
 * closed. Once more: nothing happens. Threads that run it are asked if they
 * have called sfjit_assist_enable().
 *
 * What Lua keeps private is found out with functions that are called for it, in
 * a coroutine of @L. It has no effect on the program but for the collector of
 * garbage. It raises errors of Lua if there is no memory.
 *
 * MT-safe for different states.
 *
 * Return: 0.
 *   -EOPNOTSUPP This Lua is not known, or it is not in the executable or the
 *		library in which another state has been attached to;
 *		sfjit_lua_problem() says more.
 *   -ENOSPC	There are SFJIT_LUA_STATES states already.
 *   Others: of sfjit_assist_register().
 */
int sfjit_lua_attach(lua_State *L);

/* The most states that are attached at a time. */
#define SFJIT_LUA_STATES	64

/**
 * sfjit_lua_problem - why Lua is not known
 *
 * Return: a line without a newline, or NULL.
 */
const char *sfjit_lua_problem(void);

/* The module: enables the calling thread, and attaches to the state. */
int luaopen_sfjit(lua_State *L);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_LUA_H */
