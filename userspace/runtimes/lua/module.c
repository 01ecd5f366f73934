// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * require "sfjit", or lua5.4 -l sfjit.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "states.h"

/* sfjit.assist(): returns true, or nil and why not. */
static int assist(lua_State *L)
{
	int ret = sfjit_lua_attach(L);
	const char *why = sfjit_lua_problem();

	if (!ret) {
		why = NULL;
		ret = sfjit_assist_enable(0);
		if (ret == -EPERM)
			why = "sfjit run --reasons traces this program: use "
			      "one of the two";
	}
	if (!ret) {
		lua_pushboolean(L, 1);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, why ? why : strerror(-ret));
	return 2;
}

static void set_count(lua_State *L, const char *name, uint64_t count)
{
	lua_pushinteger(L, (lua_Integer)count);
	lua_setfield(L, -2, name);
}

static const char *const refusals[NR_LUA_REFUSALS] = {
	[LUA_NO_STATE] = "no_state",
	[LUA_TWO_STATES] = "two_states",
	[LUA_IN_CALL] = "in_call",
	[LUA_TORN] = "torn",
	[LUA_DEEP] = "deep",
	[LUA_COROUTINE] = "coroutine",
	[LUA_COUNT] = "count",
	[LUA_NO_NAME] = "no_name",
};

/* sfjit.stats(): counts of the process; see Documentation/lua.rst. */
static int stats(lua_State *L)
{
	struct sfjit_assist_stats stats = { .size = sizeof(stats) };
	unsigned int i;

	sfjit_assist_stats(&stats);
	lua_createtable(L, 0, 16);
	set_count(L, "asked", stats.asked);
	set_count(L, "answered", stats.answered);
	set_count(L, "native", stats.native);
	set_count(L, "late", stats.late);
	set_count(L, "unsure", stats.unsure);
	set_count(L, "names", stats.names);
	for (i = 0; i < NR_LUA_REFUSALS; i++)
		set_count(L, refusals[i],
			  __atomic_load_n(&lua_reader.refused[i],
					  __ATOMIC_RELAXED));
	return 1;
}

static const luaL_Reg functions[] = {
	{ "assist", assist },
	{ "stats", stats },
	{ NULL, NULL },
};

/* No error, since the program runs in any case. */
static void enable_assist(lua_State *L)
{
	int nr = assist(L);

	if (nr == 2)
		fprintf(stderr, "sfjit: stacks will not show Lua functions: %s\n",
			lua_tostring(L, -1));
	lua_pop(L, nr);
}

int luaopen_sfjit(lua_State *L)
{
	luaL_newlib(L, functions);
	enable_assist(L);
	return 1;
}
