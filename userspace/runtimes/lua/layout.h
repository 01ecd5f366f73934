/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What layout.c needs of Lua's machine code, see native.c.
 */
#ifndef SFJIT_LUA_LAYOUT_H
#define SFJIT_LUA_LAYOUT_H

#include "reader.h"

#define LUA_LOOPS	16

struct lua_loop {
	struct lua_native	*native;
	struct lua_text		resume;		/* lua_resume */
	bool			has_begun;
	unsigned int		nr;		/* number of candidates */
	struct lua_text		maybe[LUA_LOOPS];
	const char		*why;
};

/* Returns NULL or why it failed. */
const char *lua_begin_loop(struct lua_loop *loop, struct lua_native *native);
const char *lua_take_loop(struct lua_loop *loop);
const char *lua_take_native(struct lua_loop *loop);

/*
 * Learns from the native frames of a C function that Lua calls in a coroutine
 * with @runs. If luaV_execute @is_known, also learns the other functions.
 */
void lua_learn_loop(struct lua_loop *loop, unsigned int runs, bool has_yielded,
		    bool is_known);

/* Learns from the native frames of a return hook. */
void lua_learn_leave(struct lua_loop *loop);

#endif /* SFJIT_LUA_LAYOUT_H */
