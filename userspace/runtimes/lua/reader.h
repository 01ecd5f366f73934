/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Shared by the files of the Lua module.
 */
#ifndef SFJIT_LUA_READER_H
#define SFJIT_LUA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#pragma GCC visibility push(default)
#include <sfjit-assist.h>
#include <sfjit-lua.h>
#pragma GCC visibility pop

/* ---- Machine code: text.c ----------------------------------------------- */

struct lua_text {
	uintptr_t	start;
	size_t		length;
};

static inline bool lua_is_in(const struct lua_text *text, uintptr_t pc)
{
	return pc - text->start < text->length;
}

/* Finds the function at an instruction by its call frame information. */
int lua_find_text(uintptr_t pc, struct lua_text *text);

/*
 * Gets return addresses, starting with the caller's caller; returns their
 * number.
 */
int lua_walk(uintptr_t *frames, int max);

/* ---- The layout of Lua: layout.c ---------------------------------------- */

/* Offsets in bytes. */
struct lua_layout {
	unsigned int	state_ci;	/* lua_State */
	unsigned int	state_jump;	/* errorJmp */
	unsigned int	ci_previous;	/* CallInfo */
	unsigned int	ci_func;
	unsigned int	ci_pc;		/* u.l.savedpc */
	unsigned int	ci_status;	/* callstatus */
	uint16_t	is_c;		/* bits of it */
	uint16_t	is_fresh;
	unsigned char	tag_lua;	/* in a TValue: a Lua closure */
	unsigned char	tag_c;		/* a C closure */
	unsigned char	tag_thread;
	unsigned int	lua_proto;	/* LClosure */
	unsigned int	c_value;	/* CClosure: its first upvalue */
	unsigned int	proto_line;	/* Proto: linedefined */
	unsigned int	proto_source;
	unsigned int	proto_code;
	unsigned int	proto_size;	/* sizecode */
	unsigned int	string_text;	/* TString */
};

#define LUA_STATE_BYTES		256
#define LUA_CI_BYTES		64
#define LUA_CLOSURE_BYTES	64
#define LUA_PROTO_BYTES		128
/* The register of the called function in a call instruction. */
#define LUA_CALL_REGISTER(instruction)	((instruction) >> 7 & 0xff)
/* TValue: 8 bytes of value, then the tag. */
#define LUA_VALUE_BYTES		16
#define LUA_VALUE_TAG		8

/* Functions of Lua that a frame may be in. */
#define LUA_TEXTS		16
struct lua_texts {
	unsigned int	nr;
	struct lua_text	text[LUA_TEXTS];
};

struct lua_native {
	struct lua_text		loop;		/* luaV_execute */
	uintptr_t		started;	/* its caller in a coroutine
						 * that has not yielded */
	struct lua_text		protect;	/* luaD_rawrunprotected */
	struct lua_texts	catch;		/* call luaD_rawrunprotected */
	struct lua_texts	enter;		/* make a CallInfo */
	struct lua_texts	call_c;		/* of these, for C functions */
	struct lua_texts	leave;		/* remove a CallInfo */
	struct lua_texts	switches;	/* change lua_States */
};

/* Returns NULL, or why this Lua is not supported. */
const char *lua_learn(lua_State *L, struct lua_layout *layout,
		      struct lua_native *native);

/* ---- The handler: frames.c, name.c --------------------------------------- */

enum lua_refusal {
	LUA_NO_STATE,		/* no attached state runs here */
	LUA_TWO_STATES,
	LUA_IN_CALL,		/* Lua is making a call */
	LUA_TORN,		/* memory contradicts itself */
	LUA_DEEP,		/* too many calls or coroutines */
	LUA_COROUTINE,		/* an unknown coroutine */
	LUA_COUNT,		/* calls do not match native frames */
	LUA_NO_NAME,
	NR_LUA_REFUSALS,
};

struct lua_reader {
	struct lua_layout	layout;
	struct lua_native	native;
	const lua_State		*states[SFJIT_LUA_STATES];
	uint64_t		refused[NR_LUA_REFUSALS];
};

int lua_add_frames(const struct sfjit_assist_stack *stack, void *reader);

/* A Lua function, from its Proto. */
struct lua_function {
	uintptr_t	source;		/* text with a byte 0 at its end; 0:
				 * the program was stripped */
	int		line;		/* 0: a chunk */
};

/* Returns 0 without a name. */
uint64_t lua_name(const struct lua_function *function);

/* Whether an address is on this thread's stack, above @sp. */
bool lua_is_on_stack(uintptr_t address, uintptr_t sp);

#endif /* SFJIT_LUA_READER_H */
