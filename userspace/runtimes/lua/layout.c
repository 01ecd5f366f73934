// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Find the private layout of Lua by experiment.
 *
 * A Lua program calls a C function at known places, many times. Each call
 * compares what the Lua API reports with memory, and eliminates the offsets
 * where they differ. In the end one offset must be left of each kind. Offsets
 * that depend on others are found in a later round.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "layout.h"

#define WORDS(bytes)	((bytes) / 8)
#define INTS(bytes)	((bytes) / 4)
#define STATUSES	(LUA_CI_BYTES / 2)
#define TEXTS		8
#define MAX_CODE	1024

enum round { POINTERS, VALUES, PROTOS, CODE, NATIVE, NR_ROUNDS };

/* The API's report about a call. */
struct level {
	uintptr_t	ci;
	uintptr_t	function;
	bool		is_c, is_fresh, is_tail;
	int		line;
	const char	*source;
};

#define LEVELS	16

struct learner {
	enum round		round;
	const char		*why;
	struct lua_layout	*layout;
	struct lua_loop		loop;
	uintptr_t		frame;		/* outside of the coroutine */
	const lua_State		*thread;	/* an argument and an upvalue */
	bool			has_yielded;
	unsigned int		probes;

	/* True until refuted. */
	bool	state_ci[WORDS(LUA_STATE_BYTES)];
	bool	state_jump[WORDS(LUA_STATE_BYTES)];
	bool	ci_previous[WORDS(LUA_CI_BYTES)];
	bool	ci_func[WORDS(LUA_CI_BYTES)];
	bool	ci_pc[WORDS(LUA_CI_BYTES)];
	bool	ci_status[STATUSES];
	uint16_t is_c[STATUSES], is_fresh[STATUSES];
	bool	c_value[WORDS(LUA_CLOSURE_BYTES)];
	bool	line[WORDS(LUA_CLOSURE_BYTES)][INTS(LUA_PROTO_BYTES)];
	bool	source[WORDS(LUA_PROTO_BYTES)][TEXTS];
	bool	code[WORDS(LUA_PROTO_BYTES)][INTS(LUA_PROTO_BYTES)];
};

/* A vararg function, which moves its frame. */
#define ARGS_LINE	13

static const char program[] =
	"local probe, pcall, call, yield, t, mt, co = ...\n"
	"\n"
	"local function leaf(x)\n"
	"  probe(x)\n"
	"  return x\n"
	"end\n"
	"\n\n\n\n\n"
	"local function args(x, ...)\n"
	"  local a, b = leaf(x), 2\n"
	"  probe(...)\n"
	"\n"
	"  return a, b\n"
	"end\n"
	"\n\n\n\n\n\n\n\n\n\n\n\n"
	"function mt.__index(t, k)\n"
	"  local r = leaf(k)\n"
	"  probe(r, 1)\n"
	"  return r\n"
	"end\n"
	"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
	"local function tail(x)\n"
	"\n\n\n"
	"  return args(x, 1, 2, 3)\n"
	"end\n"
	"\n\n\n\n\n"
	"local function body(x)\n"
	"  probe(x)\n"
	"  local v = tail(x)\n"
	"  v = t[x]\n"
	"  call(leaf, x)\n"
	"  pcall(args, x)\n"
	"  call(mt.__index, t, x)\n"
	"  call(call, probe, x)\n"
	"  local function jump() return probe(x) end\n"
	"  jump()\n"
	"  yield()\n"
	"  leaf(x)\n"
	"  tail(x)\n"
	"  v = t[x]\n"
	"  return v\n"
	"end\n"
	"body(co)\n"
	"return 1\n";

/*
 * Lua has short and long strings. NULL: stripped, so that the number of
 * instructions is the only field of its size.
 */
static const char *const names[] = {
	"=sfjit",
	NULL,
	"@/a/name/with/more/bytes/than/lua/keeps/in/a/table/of/short/strings",
};

static void fail_to_learn(struct learner *learner, const char *why)
{
	if (!learner->why)
		learner->why = why;
}

/* ---- Memory -------------------------------------------------------------- */

/* Unreadable memory counts as 0. */
static uintptr_t learner_word(uintptr_t address)
{
	uintptr_t value;

	if (sfjit_assist_read(&value, (void *)address, sizeof(value)))
		return 0;
	return value;
}

static int learner_int(uintptr_t address)
{
	int value;

	if (sfjit_assist_read(&value, (void *)address, sizeof(value)))
		return 0;
	return value;
}

static unsigned char byte_at(uintptr_t address)
{
	unsigned char value;

	if (sfjit_assist_read(&value, (void *)address, sizeof(value)))
		return 0;
	return value;
}

static bool equals(uintptr_t address, const void *bytes, size_t length)
{
	const unsigned char *want = bytes;
	size_t i;

	for (i = 0; i < length; i++)
		if (byte_at(address + i) != want[i])
			return false;
	return true;
}

/* ---- Calls --------------------------------------------------------------- */

/* luaV_execute calls a metamethod of the program. */
static bool is_fresh(const struct level *level, const lua_Debug *ar,
		     bool called_by_lua)
{
	return !level->is_c &&
	       (!called_by_lua || !strcmp(ar->namewhat, "metamethod"));
}

static int get_levels(lua_State *L, struct level *levels)
{
	lua_Debug ars[LEVELS + 1];
	int nr, i;

	for (nr = 0; nr < LEVELS && lua_getstack(L, nr, &ars[nr]); nr++) {
		lua_getinfo(L, "Snft", &ars[nr]);
		levels[nr] = (struct level){
			.ci = (uintptr_t)ars[nr].i_ci,
			.function = (uintptr_t)lua_topointer(L, -1),
			.is_c = *ars[nr].what == 'C',
			.is_tail = ars[nr].istailcall,
			.line = ars[nr].linedefined,
			.source = ars[nr].source,
		};
		lua_pop(L, 1);
	}
	for (i = 0; i < nr; i++)
		levels[i].is_fresh = is_fresh(&levels[i], &ars[i],
					      i + 1 < nr &&
					      !levels[i + 1].is_c);
	return nr;
}

/* ---- Rounds -------------------------------------------------------------- */

static void learn_state(struct learner *learner, const lua_State *L,
			const struct level *levels)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), value;
	unsigned int i;

	for (i = 0; i < WORDS(LUA_STATE_BYTES); i++) {
		value = learner_word((uintptr_t)L + 8 * i);
		learner->state_ci[i] &= value == levels[0].ci;
		learner->state_jump[i] &= value > here &&
					  value < learner->frame;
	}
}

static void learn_pointers(struct learner *learner, const struct level *level,
			   bool has_caller)
{
	uintptr_t value;
	unsigned int i;

	for (i = 0; i < WORDS(LUA_CI_BYTES); i++) {
		value = learner_word(level->ci + 8 * i);
		learner->ci_func[i] &= value &&
				       learner_word(value) == level->function;
		if (has_caller)
			learner->ci_previous[i] &= value == level[1].ci;
	}
}

static bool is_bit(unsigned int value)
{
	return value && !(value & (value - 1));
}

/* The first value of a kind defines the bit. */
static bool is_same_bit(uint16_t *bit, uint16_t value)
{
	if (!*bit)
		*bit = value;
	return is_bit(value) && *bit == value;
}

static bool is_status(struct learner *learner, const struct level *level,
		      unsigned int i, bool is_probe)
{
	uint16_t value, *c = &learner->is_c[i], *fresh = &learner->is_fresh[i];

	if (sfjit_assist_read(&value, (void *)(level->ci + 2 * i),
			      sizeof(value)))
		return false;
	if (is_probe && !level->is_tail)
		return is_same_bit(c, value);
	if (level->is_c)
		return value & *c;
	if (level->is_tail)
		return !(value & *c) && !!(value & *fresh) == level->is_fresh;
	return level->is_fresh ? is_same_bit(fresh, value) : !value;
}

static void learn_status(struct learner *learner, const struct level *levels,
			 int nr)
{
	unsigned int i;
	int at;

	/*
	 * From the outermost, so that each bit is defined before it is needed.
	 */
	for (i = 0; i < STATUSES; i++) {
		for (at = 0; at < nr; at++)
			if (!levels[at].is_c && !levels[at].is_tail)
				learner->ci_status[i] &= is_status(
					learner, &levels[at], i, false);
		for (at = 0; at < nr; at++)
			if (levels[at].is_c || levels[at].is_tail)
				learner->ci_status[i] &= is_status(
					learner, &levels[at], i, !at);
	}
}

static void learn_tag(struct learner *learner, unsigned char *tag,
		      uintptr_t value)
{
	unsigned char seen = byte_at(value + LUA_VALUE_TAG);

	if (!*tag)
		*tag = seen;
	if (!seen || *tag != seen)
		fail_to_learn(learner, "values have other tags");
}

static uintptr_t slot_of_probe(const struct learner *learner,
			       const struct level *level, unsigned int argument)
{
	return learner_word(level->ci + learner->layout->ci_func) +
	       argument * LUA_VALUE_BYTES;
}

static void learn_thread(struct learner *learner, lua_State *L,
			 const struct level *probe)
{
	unsigned char *tag = &learner->layout->tag_thread;
	uintptr_t slot = slot_of_probe(learner, probe, 1), value;
	unsigned int i;

	if (lua_tothread(L, 1) != learner->thread)
		return;
	if (learner_word(slot) != (uintptr_t)learner->thread)
		fail_to_learn(learner, "arguments are elsewhere");
	learn_tag(learner, tag, slot);
	for (i = 0; i < WORDS(LUA_CLOSURE_BYTES); i++) {
		value = probe->function + 8 * i;
		learner->c_value[i] &=
			learner_word(value) == (uintptr_t)learner->thread &&
			byte_at(value + LUA_VALUE_TAG) == *tag;
	}
}

static void learn_lines(struct learner *learner, const struct level *level)
{
	uintptr_t proto;
	unsigned int i, j;

	for (i = 0; i < WORDS(LUA_CLOSURE_BYTES); i++) {
		proto = learner_word(level->function + 8 * i);
		for (j = 0; j < INTS(LUA_PROTO_BYTES); j++)
			learner->line[i][j] &=
				!!byte_at(proto + 8) &&
				learner_int(proto + 4 * j) == level->line;
	}
}

static void learn_values(struct learner *learner, lua_State *L,
			 const struct level *levels, int nr)
{
	int i;

	learn_status(learner, levels, nr);
	learn_tag(learner, &learner->layout->tag_c,
		  slot_of_probe(learner, &levels[0], 0));
	learn_thread(learner, L, &levels[0]);
	for (i = 0; i < nr; i++) {
		if (levels[i].is_c)
			continue;
		learn_tag(learner, &learner->layout->tag_lua,
			  slot_of_probe(learner, &levels[i], 0));
		learn_lines(learner, &levels[i]);
	}
}

static uintptr_t proto_of(const struct learner *learner,
			  const struct level *level)
{
	return learner_word(level->function + learner->layout->lua_proto);
}

static void learn_source(struct learner *learner, const struct level *level)
{
	uintptr_t proto = proto_of(learner, level), string;
	size_t length = strlen(level->source) + 1;
	unsigned int i, j;

	for (i = 0; i < WORDS(LUA_PROTO_BYTES); i++) {
		string = learner_word(proto + 8 * i);
		for (j = 0; j < TEXTS; j++)
			learner->source[i][j] &= equals(string + 8 * j,
							level->source, length);
	}
}

/* ---- Bytecode ------------------------------------------------------------ */

struct dump {
	size_t		length;
	unsigned char	bytes[1 << 14];
};

static int write_dump(lua_State *L, const void *bytes, size_t length,
		      void *data)
{
	struct dump *dump = data;

	if (length > sizeof(dump->bytes) - dump->length)
		return 1;
	memcpy(dump->bytes + dump->length, bytes, length);
	dump->length += length;
	return 0;
}

/* Seven bits per byte, the lowest last and marked. */
static bool is_size(const unsigned char *end, unsigned int size)
{
	return end[-1] == (0x80 | (size & 0x7f)) &&
	       (size < 0x80 || end[-2] == size >> 7);
}

/* Whether the instructions are in the dump, after their number. */
static bool is_dumped(const struct dump *dump, const unsigned char *code,
		      unsigned int size)
{
	const unsigned char *at = dump->bytes + 2;
	const unsigned char *end = dump->bytes + dump->length;

	while ((at = memmem(at, end - at, code, 4 * size))) {
		if (is_size(at, size))
			return true;
		at++;
	}
	return false;
}

static bool is_dumped_code(const struct dump *dump, uintptr_t proto,
			   unsigned int i, unsigned int j)
{
	unsigned char code[4 * MAX_CODE];
	int size = learner_int(proto + 4 * j);

	return size > 0 && size <= MAX_CODE &&
	       !sfjit_assist_read(code, (void *)learner_word(proto + 8 * i),
				  4 * size) &&
	       is_dumped(dump, code, size);
}

static void learn_code(struct learner *learner, const struct level *level,
		       const struct dump *dump)
{
	uintptr_t proto = proto_of(learner, level);
	unsigned int i, j;

	for (i = 0; i < WORDS(LUA_PROTO_BYTES); i++)
		for (j = 0; j < INTS(LUA_PROTO_BYTES); j++)
			if (learner->code[i][j])
				learner->code[i][j] =
					is_dumped_code(dump, proto, i, j);
}

static void learn_dump(struct learner *learner, lua_State *L, int at,
		       const struct level *level)
{
	struct dump dump = { 0 };
	lua_Debug ar;

	lua_getstack(L, at, &ar);
	lua_getinfo(L, "f", &ar);
	if (lua_dump(L, write_dump, &dump, 1))
		fail_to_learn(learner, "a dump is too long");
	lua_pop(L, 1);
	learn_code(learner, level, &dump);
}

static void learn_pc(struct learner *learner, const struct level *level)
{
	uintptr_t proto = proto_of(learner, level);
	uintptr_t code = learner_word(proto + learner->layout->proto_code);
	uintptr_t size = 4 * learner_int(proto + learner->layout->proto_size);
	unsigned int i;

	for (i = 0; i < WORDS(LUA_CI_BYTES); i++)
		learner->ci_pc[i] &=
			learner_word(level->ci + 8 * i) - code - 4 < size;
}

/* A Lua function is called in the register that the instruction names. */
static void learn_call(struct learner *learner, const struct level *level)
{
	uintptr_t pc = learner_word(level[1].ci + learner->layout->ci_pc);
	unsigned int slot =
		LUA_CALL_REGISTER((unsigned int)learner_int(pc - 4));

	if (slot_of_probe(learner, level, 0) != slot_of_probe(learner,
							      level + 1,
							      slot + 1))
		fail_to_learn(learner, "calls have another form");
}

static bool is_plain_call(const struct level *level, const struct level *end)
{
	return level + 1 < end && !level->is_c && !level->is_fresh &&
	       !level->is_tail && level->line != ARGS_LINE;
}

/* ---- The program --------------------------------------------------------- */

static unsigned int nr_fresh(const struct level *levels, int nr)
{
	unsigned int fresh = 0;
	int i;

	for (i = 0; i < nr; i++)
		fresh += levels[i].is_fresh;
	return fresh;
}

static void learn_lua(struct learner *learner, lua_State *L, int at,
		      const struct level *level)
{
	switch (learner->round) {
	case PROTOS:
		if (strcmp(level->source, "=?"))
			learn_source(learner, level);
		learn_dump(learner, L, at, level);
		break;
	case CODE:
		learn_pc(learner, level);
		break;
	default:
		break;
	}
}

static struct learner *learner_of(lua_State *L)
{
	return lua_touserdata(L, lua_upvalueindex(2));
}

static int probe(lua_State *L)
{
	struct learner *learner = learner_of(L);
	struct level levels[LEVELS];
	int nr = get_levels(L, levels), i;

	learner->probes++;
	if (learner->round == POINTERS)
		learn_state(learner, L, levels);
	if (learner->round == VALUES)
		learn_values(learner, L, levels, nr);
	if (learner->round >= CODE)
		lua_learn_loop(&learner->loop, nr_fresh(levels, nr),
			       learner->has_yielded, learner->round == NATIVE);
	for (i = 0; i < nr; i++) {
		if (learner->round == POINTERS)
			learn_pointers(learner, &levels[i], i + 1 < nr);
		if (learner->round == NATIVE &&
		    is_plain_call(&levels[i], levels + nr))
			learn_call(learner, &levels[i]);
		if (!levels[i].is_c)
			learn_lua(learner, L, i, &levels[i]);
	}
	return 0;
}

static int call(lua_State *L)
{
	lua_call(L, lua_gettop(L) - 1, 0);
	return 0;
}

static int protected_call(lua_State *L)
{
	if (lua_pcall(L, lua_gettop(L) - 1, 0, 0))
		return lua_error(L);
	return 0;
}

static int yield(lua_State *L)
{
	return lua_yield(L, 0);
}

/* A hook has no argument for this. */
static __thread struct learner *hooked;

static void on_return(lua_State *L, lua_Debug *ar)
{
	lua_learn_leave(&hooked->loop);
}

static void push_c(lua_State *L, lua_CFunction function,
		   struct learner *learner)
{
	lua_pushvalue(L, 1);
	lua_pushlightuserdata(L, learner);
	lua_pushcclosure(L, function, 2);
}

/* Pushes the arguments of the program. Value 1 is learner->thread. */
static int push_arguments(lua_State *L, struct learner *learner)
{
	push_c(L, probe, learner);
	push_c(L, protected_call, learner);
	push_c(L, call, learner);
	push_c(L, yield, learner);
	lua_newtable(L);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_setmetatable(L, -3);
	lua_pushvalue(L, 1);
	return 7;
}

static int resume(lua_State *thread, lua_State *L, int arguments)
{
	int results, status = lua_resume(thread, L, arguments, &results);

	if (status == LUA_OK || status == LUA_YIELD)
		lua_pop(thread, results);
	return status;
}

static int strip(lua_State *L)
{
	struct dump dump = { 0 };

	if (lua_dump(L, write_dump, &dump, 1))
		return LUA_ERRMEM;
	lua_pop(L, 1);
	return luaL_loadbufferx(L, (char *)dump.bytes, dump.length, "=?", "b");
}

static int load_probe(lua_State *L, const char *name)
{
	int ret = luaL_loadbufferx(L, program, sizeof(program) - 1,
				   name ? name : "=?", "t");

	return ret || name ? ret : strip(L);
}

static void run_probe(struct learner *learner, lua_State *L, const char *name)
{
	lua_State *thread = lua_newthread(L);
	int arguments;

	lua_sethook(thread, NULL, 0, 0);
	learner->thread = lua_newthread(thread);
	if (load_probe(thread, name)) {
		fail_to_learn(learner, "it does not load a program");
		return;
	}
	arguments = push_arguments(thread, learner);
	if (learner->round == NATIVE)
		lua_sethook(thread, on_return, LUA_MASKRET, 0);
	learner->has_yielded = false;
	if (resume(thread, L, arguments) != LUA_YIELD) {
		fail_to_learn(learner, "a coroutine does not yield");
		return;
	}
	learner->has_yielded = true;
	if (resume(thread, L, 0) != LUA_OK)
		fail_to_learn(learner, "a coroutine does not end");
	lua_sethook(thread, NULL, 0, 0);
}

/* ---- What is left -------------------------------------------------------- */

static int the_one(struct learner *learner, const bool *candidates,
		   unsigned int nr, const char *why)
{
	int found = -1;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!candidates[i])
			continue;
		if (found >= 0)
			fail_to_learn(learner, why);
		found = i;
	}
	if (found < 0)
		fail_to_learn(learner, why);
	return found < 0 ? 0 : found;
}

#define THE_ONE(learner, member, why) \
	the_one(learner, (const bool *)(learner)->member, \
		sizeof((learner)->member), why)

static void take_pointers(struct learner *learner)
{
	struct lua_layout *layout = learner->layout;

	layout->state_ci = 8 * THE_ONE(learner, state_ci, "lua_State.ci");
	layout->state_jump = 8 * THE_ONE(learner, state_jump,
					 "lua_State.errorJmp");
	layout->ci_previous = 8 * THE_ONE(learner, ci_previous,
					  "CallInfo.previous");
	layout->ci_func = 8 * THE_ONE(learner, ci_func, "CallInfo.func");
}

static void take_values(struct learner *learner)
{
	struct lua_layout *layout = learner->layout;
	int i = THE_ONE(learner, ci_status, "CallInfo.callstatus");

	layout->ci_status = 2 * i;
	layout->is_c = learner->is_c[i];
	layout->is_fresh = learner->is_fresh[i];
	if (!layout->is_c || !layout->is_fresh ||
	    layout->is_c == layout->is_fresh)
		fail_to_learn(learner, "CIST_C and CIST_FRESH");
	if (layout->tag_c == layout->tag_lua ||
	    layout->tag_c == layout->tag_thread ||
	    layout->tag_lua == layout->tag_thread || !layout->tag_thread)
		fail_to_learn(learner, "tags");
	layout->c_value = 8 * THE_ONE(learner, c_value, "CClosure.upvalue");
	i = THE_ONE(learner, line, "Proto.linedefined");
	layout->lua_proto = i / INTS(LUA_PROTO_BYTES) * 8;
	layout->proto_line = i % INTS(LUA_PROTO_BYTES) * 4;
}

static void take_protos(struct learner *learner)
{
	struct lua_layout *layout = learner->layout;
	int i = THE_ONE(learner, source, "Proto.source");

	layout->proto_source = i / TEXTS * 8;
	layout->string_text = i % TEXTS * 8;
	i = THE_ONE(learner, code, "Proto.code");
	layout->proto_code = i / INTS(LUA_PROTO_BYTES) * 8;
	layout->proto_size = i % INTS(LUA_PROTO_BYTES) * 4;
}

static void take_answers(struct learner *learner)
{
	switch (learner->round) {
	case POINTERS:
		take_pointers(learner);
		break;
	case VALUES:
		take_values(learner);
		break;
	case PROTOS:
		take_protos(learner);
		break;
	case CODE:
		learner->layout->ci_pc = 8 * THE_ONE(learner, ci_pc,
						     "CallInfo.savedpc");
		fail_to_learn(learner, lua_take_loop(&learner->loop));
		break;
	case NATIVE:
		fail_to_learn(learner, lua_take_native(&learner->loop));
		break;
	default:
		break;
	}
}

/* Not inlined: its frame is outside of the coroutines that it runs. */
__attribute__((noinline))
static void run_all(struct learner *learner, lua_State *L)
{
	int top = lua_gettop(L);
	unsigned int i;

	learner->frame = (uintptr_t)__builtin_frame_address(0);
	for (i = 0; i < sizeof(names) / sizeof(*names) && !learner->why; i++) {
		run_probe(learner, L, names[i]);
		lua_settop(L, top);
	}
}

#define ALL(member)	memset(learner->member, true, sizeof(learner->member))

static void begin_learning(struct learner *learner, struct lua_layout *layout,
			   struct lua_native *native)
{
	memset(learner, 0, sizeof(*learner));
	memset(layout, 0, sizeof(*layout));
	memset(native, 0, sizeof(*native));
	learner->layout = layout;
	ALL(state_ci);
	ALL(state_jump);
	ALL(ci_previous);
	ALL(ci_func);
	ALL(ci_pc);
	ALL(ci_status);
	ALL(c_value);
	ALL(line);
	ALL(source);
	ALL(code);
	fail_to_learn(learner, lua_begin_loop(&learner->loop, native));
}

const char *lua_learn(lua_State *L, struct lua_layout *layout,
		      struct lua_native *native)
{
	struct learner *learner = lua_newuserdatauv(L, sizeof(*learner), 0);
	const char *why;

	begin_learning(learner, layout, native);
	hooked = learner;
	while (learner->round < NR_ROUNDS && !learner->why) {
		learner->probes = 0;
		run_all(learner, L);
		take_answers(learner);
		learner->round++;
	}
	why = learner->why;
	lua_pop(L, 1);
	return why;
}
