// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Attached states.
 */
#include <errno.h>
#include <pthread.h>

#include <lauxlib.h>

#include "states.h"

struct lua_reader lua_reader;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *problem;
static bool is_known;

/* Its address is the key in a state's registry. */
static const char key;

const char *sfjit_lua_problem(void)
{
	return __atomic_load_n(&problem, __ATOMIC_ACQUIRE);
}

static lua_State *main_thread(lua_State *L)
{
	lua_State *main;

	lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
	main = lua_tothread(L, -1);
	lua_pop(L, 1);
	return main;
}

/* lua_close() calls this while the state is still readable. */
static int leave_state(lua_State *L)
{
	const lua_State *main = main_thread(L);
	unsigned int i;

	for (i = 0; i < SFJIT_LUA_STATES; i++)
		if (lua_reader.states[i] == main)
			__atomic_store_n(&lua_reader.states[i], NULL,
					 __ATOMIC_RELEASE);
	return 0;
}

static void leave_when_closed(lua_State *L)
{
	lua_newuserdatauv(L, 0, 0);
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, leave_state);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
}

static int add_state(const lua_State *main)
{
	unsigned int i;

	for (i = 0; i < SFJIT_LUA_STATES; i++)
		if (!lua_reader.states[i]) {
			__atomic_store_n(&lua_reader.states[i], main,
					 __ATOMIC_RELEASE);
			return 0;
		}
	return -ENOSPC;
}

/* Called once per process: the callback reads the data without a lock. */
static int know(const struct lua_layout *layout,
		const struct lua_native *native)
{
	int ret;

	if (is_known)
		return native->loop.start == lua_reader.native.loop.start ?
			0 : -EOPNOTSUPP;
	lua_reader.layout = *layout;
	lua_reader.native = *native;
	ret = sfjit_assist_register((void *)native->loop.start,
				    native->loop.length, lua_add_frames,
				    &lua_reader);
	is_known = !ret;
	return ret;
}

static int attach_state(lua_State *main, const char *why,
			const struct lua_layout *layout,
			const struct lua_native *native)
{
	int ret = why ? -EOPNOTSUPP : know(layout, native);

	if (!why && ret == -EOPNOTSUPP)
		why = "another copy of Lua has been attached to";
	if (ret == -EOPNOTSUPP)
		__atomic_store_n(&problem, why, __ATOMIC_RELEASE);
	return ret ? ret : add_state(main);
}

static bool is_attached(lua_State *L)
{
	bool is = lua_rawgetp(L, LUA_REGISTRYINDEX, &key) != LUA_TNIL;

	lua_pop(L, 1);
	return is;
}

static void forget_state(lua_State *L)
{
	lua_pushnil(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
}

/* Holds no lock while Lua may raise an error. */
int sfjit_lua_attach(lua_State *L)
{
	struct lua_native native;
	struct lua_layout layout;
	const char *why;
	int ret;

	luaL_checkstack(L, LUA_MINSTACK, NULL);
	if (is_attached(L))
		return 0;
	why = lua_learn(L, &layout, &native);
	leave_when_closed(L);
	pthread_mutex_lock(&lock);
	ret = attach_state(main_thread(L), why, &layout, &native);
	pthread_mutex_unlock(&lock);
	if (ret)
		forget_state(L);
	return ret;
}
