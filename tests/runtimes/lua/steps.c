// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The frames that the module for Lua adds, at each instruction of programs.
 *
 * Each program first runs with hooks of its own, which note its stacks in
 * order. Then it runs instruction by instruction, and each answer must be the
 * last stack seen, or one of the next.
 *
 * usage: steps DIRECTORY-OF-PROGRAMS
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include <lauxlib.h>
#include <lualib.h>

#include "states.h"
#include "../../lib/tap.h"

#define TRAP_FLAG	0x100
#define LINE		16384
#define NEXT		64	/* stacks that refusals may hide */

/* ---- libsfjit's part ----------------------------------------------------- */

static const void *loop_text;
static size_t loop_length;
static char *known[4096];
static unsigned int nr_known;
static char answer[LINE];
static size_t answer_length;
static uint32_t answer_behind;

int sfjit_assist_register(const void *text, size_t length,
			  sfjit_assist_callback callback, void *data)
{
	loop_text = text;
	loop_length = length;
	return 0;
}

int sfjit_assist_read(void *to, const void *from, size_t length)
{
	struct iovec local = { to, length };
	struct iovec remote = { (void *)from, length };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
	       (ssize_t)length ? 0 : -EFAULT;
}

uint64_t sfjit_assist_name(uint64_t id0, uint64_t id1,
			   int (*name)(char *text, size_t size, void *data),
			   void *data)
{
	static uint64_t ids[4096][2];
	char text[1024];
	unsigned int i;
	int length;

	for (i = 0; i < nr_known; i++)
		if (ids[i][0] == id0 && ids[i][1] == id1)
			return i + 1;
	length = name(text, sizeof(text), data);
	if (length <= 0 || nr_known == 4096)
		return 0;
	ids[i][0] = id0;
	ids[i][1] = id1;
	known[i] = strndup(text, length);
	return ++nr_known;
}

/*
 * Before a caller is '<', or '|' if it is in another native frame, or '?' if
 * Lua does not say.
 */
static void add_name(char *text, size_t *length, char before, const char *name)
{
	if (*length)
		text[(*length)++] = before;
	*length += snprintf(text + *length, LINE - *length, "%s", name);
}

int sfjit_assist_insert(const struct sfjit_assist_stack *stack,
			uint32_t behind, uint64_t address)
{
	add_name(answer, &answer_length, behind != answer_behind ? '|' : '<',
		 known[address - 1]);
	answer_behind = behind;
	return 0;
}

/* ---- What is right ------------------------------------------------------- */

#define MOST	100000
static char *truth[MOST];
static unsigned int nr_truth;
static bool notes;

static lua_State *running[16];
static unsigned int nr_running;

/* The caller of a function, and what it was called for, says where runs end. */
static void add_levels(lua_State *L, char *text, size_t *length, char *before,
		       int skip)
{
	char name[1200];
	lua_Debug ar;
	int level;

	for (level = 0; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sn", &ar);
		if (*ar.what != 'C' && skip-- <= 0) {
			snprintf(name, sizeof(name), "lua::%s:%s:%d",
				 ar.linedefined ? "function" : "main",
				 ar.short_src, ar.linedefined);
			add_name(text, length, *before, name);
			*before = ar.name ? '<' : '?';
		}
		if (*ar.what == 'C' || !strcmp(ar.namewhat, "metamethod") ||
		    !strcmp(ar.namewhat, "for iterator"))
			*before = '|';
	}
	*before = '|';
}

static void note(int skip)
{
	char text[LINE];
	size_t length = 0;
	unsigned int i = nr_running;
	char before = '<';

	text[0] = '\0';
	while (i--) {
		add_levels(running[i], text, &length, &before, skip);
		skip = 0;
	}
	if (nr_truth && !strcmp(truth[nr_truth - 1], text))
		return;
	MUST(nr_truth < MOST);
	truth[nr_truth++] = strdup(text);
}

/* Who calls is the one that runs: those that it has resumed have ended. */
static void see_running(lua_State *L)
{
	unsigned int i;

	for (i = 0; i < nr_running; i++)
		if (running[i] == L)
			break;
	MUST(i < 16);
	running[i] = L;
	nr_running = i + 1;
}

/* Lua runs no hooks in finalizers and for what is closed by an error. */
static int mark(lua_State *L)
{
	if (notes) {
		see_running(L);
		note(0);
		note(1);
	}
	return 0;
}

static void see(lua_State *L, lua_Debug *ar)
{
	lua_getinfo(L, "S", ar);
	see_running(L);
	if (!notes)
		return;
	note(0);
	if (ar->event == LUA_HOOKRET && *ar->what != 'C')
		note(1);
}

/* ---- Steps ---------------------------------------------------------------- */

static bool plain;		/* native frames do not count */
static unsigned int at, steps, refused, empty, wrong;
static char last[LINE];
static bool stepping;

struct walk {
	uint64_t	frames[SFJIT_ASSIST_FRAMES];
	uint32_t	nr;
	uintptr_t	pc;
	bool		found;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context,
				     void *data)
{
	struct walk *walk = data;
	uintptr_t pc = _Unwind_GetIP(context);

	walk->found |= pc == walk->pc;
	if (!pc || walk->nr == SFJIT_ASSIST_FRAMES)
		return _URC_END_OF_STACK;
	if (walk->found)
		walk->frames[walk->nr++] = pc;
	return _URC_NO_REASON;
}

static bool same(const char *got, const char *want)
{
	while (*got && *got == *want) {
		got++;
		want++;
		if (*got && strchr("|<", *got) && *want &&
		    (*want == '?' || (plain && strchr("|<", *want)))) {
			got++;
			want++;
		}
	}
	return !*got && !*want;
}

static void judge(const struct walk *walk)
{
	unsigned int i;

	if (!strcmp(answer, last))
		return;
	for (i = at; i < nr_truth && i < at + NEXT; i++)
		if (same(answer, truth[i])) {
			at = i;
			strcpy(last, answer);
			return;
		}
	if (!wrong++)
		printf("# at %#lx (%#lx in luaV_execute): %s\n"
		       "# not %s\n# or %s\n",
		       (unsigned long)walk->frames[0],
		       (unsigned long)walk->frames[0] -
		       (unsigned long)loop_text, answer,
		       truth[at], at + 1 < nr_truth ? truth[at + 1] : "");
}

static bool has_loop(const struct walk *walk)
{
	uint32_t i;

	for (i = 0; i < walk->nr; i++)
		if (walk->frames[i] - (i > 0) - (uintptr_t)loop_text <
		    loop_length)
			return true;
	return false;
}

static void trap(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	greg_t *registers = context->uc_mcontext.gregs;
	struct walk walk = { .pc = registers[REG_RIP] };
	struct sfjit_assist_stack stack = { .size = sizeof(stack) };

	if (!stepping) {
		registers[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	steps++;
	_Unwind_Backtrace(add_frame, &walk);
	if (!walk.nr || !has_loop(&walk)) {
		empty++;
		return;
	}
	stack.nr = walk.nr;
	stack.frames = walk.frames;
	stack.context = context;
	answer[0] = '\0';
	answer_length = 0;
	answer_behind = -1;
	if (lua_add_frames(&stack, &lua_reader))
		refused++;
	else
		judge(&walk);
}

static void raise_flag(void)
{
	__asm__ volatile("sub $128, %%rsp\n\tpushfq\n\t"
			 "orq %0, (%%rsp)\n\tpopfq\n\t"
			 "add $128, %%rsp" : : "i"(TRAP_FLAG) : "memory", "cc");
}

static bool with_hooks;

static int set_stepping(lua_State *L)
{
	bool on = lua_toboolean(L, 1);

	if (with_hooks) {
		notes = on;
		if (on)
			note(0);
		return 0;
	}
	stepping = on;
	if (on)
		raise_flag();
	return 0;
}

/* ---- Programs ------------------------------------------------------------- */

/* A coroutine takes the hook of who makes it. */
static void run(const char *path, bool hooks)
{
	lua_State *L = luaL_newstate();

	MUST(L);
	luaL_openlibs(L);
	with_hooks = hooks;
	/* Nothing is collected but where the program says so. */
	lua_gc(L, LUA_GCSTOP);
	IS("attach", sfjit_lua_attach(L), 0);
	if (sfjit_lua_problem())
		printf("# %s\n", sfjit_lua_problem());
	nr_running = 1;
	running[0] = L;
	if (hooks)
		lua_sethook(L, see, LUA_MASKCALL | LUA_MASKRET, 0);
	MUST(!luaL_loadfile(L, path));
	lua_pushcfunction(L, set_stepping);
	lua_pushcfunction(L, mark);
	if (lua_pcall(L, 2, 0, 0))
		printf("# %s\n", lua_tostring(L, -1));
	lua_sethook(L, NULL, 0, 0);
	lua_close(L);
}

static unsigned long refused_for(enum lua_refusal why)
{
	unsigned long nr = lua_reader.refused[why];

	lua_reader.refused[why] = 0;
	return nr;
}

static void test(const char *directory, const char *program, bool any_frame,
		 unsigned int most)
{
	char path[4096], name[64];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/%s.lua", directory, program);
	at = steps = refused = empty = wrong = nr_truth = 0;
	last[0] = '\0';
	plain = any_frame;
	run(path, true);
	run(path, false);
	printf("# %s: %u stacks, %u steps, %u without Lua, %u refused:",
	       program, nr_truth, steps, empty, refused);
	for (i = 0; i < NR_LUA_REFUSALS; i++)
		printf(" %lu", refused_for(i));
	printf("; %u wrong, %u of %u stacks passed\n", wrong, at + 1, nr_truth);
	snprintf(name, sizeof(name), "%s: none is wrong", program);
	IS(name, wrong, 0);
	snprintf(name, sizeof(name), "%s: to the end", program);
	result(at + NEXT > nr_truth && nr_truth > 20, name, "%u of %u", at,
	       nr_truth);
	snprintf(name, sizeof(name), "%s: few are refused", program);
	result(refused * 100. <= steps * (double)most, name,
	       "%u of %u, expected %u%%", refused, steps, most);
}

int main(int argc, char **argv)
{
	struct sigaction action = { 0 };
	const char *directory = argc > 1 ? argv[1] : "tests/runtimes/lua/steps";

	action.sa_sigaction = trap;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	test(directory, "calls", false, 3);
	test(directory, "metamethods", false, 4);
	test(directory, "errors", false, 7);
	test(directory, "coroutines", true, 20);
	return finish();
}
