/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * sfjit.so, the module for Lua 5.4: shows functions of Lua in the kernel's call
 * chains, see sfjit-assist.h.
 *
 * In Lua load it with require "sfjit". In a host program call luaopen_sfjit(), for
 * example by luaL_requiref(), or sfjit_lua_attach().
 */
#ifndef SFJIT_LUA_H
#define SFJIT_LUA_H

#include <lua.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * sfjit_lua_attach - show the functions of a Lua state in call chains
 * @L:	any thread of the state, which is at rest or runs the caller
 *
 * This includes the main thread and all coroutines. It ends when the state is
 * closed. A second call does nothing. The kernel asks the threads that run the
 * state if they have called sfjit_assist_enable().
 *
 * To find the layout of Lua's private structures the call runs functions in a
 * coroutine of @L. The only effect on the program is on garbage collection. It
 * raises a Lua error if there is no memory.
 *
 * MT-safe for different states.
 *
 * Return: 0.
 *   -EOPNOTSUPP This Lua is not known, or is in another executable or library than
 *		that of a state attached before; sfjit_lua_problem() says more.
 *   -ENOSPC	There are SFJIT_LUA_STATES states already.
 *   Others: as sfjit_assist_register().
 */
int sfjit_lua_attach(lua_State *L);

/* Maximum number of states attached at a time. */
#define SFJIT_LUA_STATES	64

/**
 * sfjit_lua_problem - get the reason why this Lua is not known
 *
 * Return: a line without a newline, or NULL.
 */
const char *sfjit_lua_problem(void);

/* The module: enables the calling thread and attaches to the state. */
int luaopen_sfjit(lua_State *L);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_LUA_H */
