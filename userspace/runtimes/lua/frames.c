// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Find the frames of Lua in the handler.
 *
 * luaV_execute runs a Lua function and those that it calls until the first one,
 * which is "fresh", returns: this is a run. The CallInfo list of a coroutine
 * holds its runs and C functions. Each run has a native frame, except after a
 * yield: a resumed coroutine has one native frame for the run that yielded, and
 * none for the runs outside of it.
 *
 * Frames in lua_resume separate the native frames of coroutines. Lua does not
 * record which coroutine was resumed, but the resumer still holds it as an
 * argument or upvalue, and it has a buffer for longjmp() further down the
 * stack. If another coroutine is found, the number of coroutines differs from
 * that of lua_resume's native frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <sys/syscall.h>

#include <context.h>
#include "reader.h"

#define MAX_CALLS	1024
#define MAX_COROUTINES	16
/* Slots of a C function that are searched for a coroutine. */
#define MAX_ARGUMENTS	4

/* A decoded CallInfo. */
struct call {
	uintptr_t	previous;
	uintptr_t	func;
	uintptr_t	pc;
	bool		is_c, is_fresh;
};

/*
 * All coroutines share the arrays of functions and of the ends of runs: run R
 * has the functions from ends[R - 1] to ends[R].
 */
struct coroutine {
	uintptr_t	state;
	uintptr_t	jump;
	unsigned int	first_run, nr_runs;
	struct call	top, below;	/* its innermost calls */
};

struct segment {
	unsigned int	first, nr;	/* in question.loops */
};

struct question {
	const struct sfjit_assist_stack	*stack;
	struct lua_reader		*reader;
	uintptr_t			sp;

	unsigned int		nr_functions;
	struct lua_function	functions[SFJIT_ASSIST_FRAMES];
	unsigned int		nr_runs;
	uint16_t		ends[SFJIT_ASSIST_FRAMES + 1];

	unsigned int		nr_coroutines;	/* outermost first */
	struct coroutine	coroutines[MAX_COROUTINES];

	/* Native frames in luaV_execute, innermost first. */
	uint16_t		loops[SFJIT_ASSIST_FRAMES];
	unsigned int		nr_segments;	/* innermost first */
	struct segment		segments[MAX_COROUTINES + 2];
};

static int refuse(const struct question *question, enum lua_refusal why)
{
	__atomic_fetch_add(&question->reader->refused[why], 1,
			   __ATOMIC_RELAXED);
	return -1;
}

/* ---- Memory of Lua ------------------------------------------------------- */

static int read_lua_bytes(void *to, uintptr_t from, size_t length)
{
	return sfjit_assist_read(to, (const void *)from, length);
}

static uintptr_t frame_word(const unsigned char *bytes, unsigned int offset)
{
	uintptr_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static int frame_int(const unsigned char *bytes, unsigned int offset)
{
	int value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static int read_call(const struct lua_layout *layout, uintptr_t ci,
		     struct call *call)
{
	unsigned char bytes[LUA_CI_BYTES];
	uint16_t status;

	if (read_lua_bytes(bytes, ci, sizeof(bytes)))
		return -EFAULT;
	memcpy(&status, bytes + layout->ci_status, sizeof(status));
	call->previous = frame_word(bytes, layout->ci_previous);
	call->func = frame_word(bytes, layout->ci_func);
	call->pc = frame_word(bytes, layout->ci_pc);
	call->is_c = status & layout->is_c;
	call->is_fresh = status & layout->is_fresh;
	return 0;
}

/*
 * While a function returns, the slot of its closure has the first result; while
 * one is called, CallInfo and slot are set one after the other. A closure that
 * was not running does not contain the instruction.
 */
static int read_lua_function(const struct lua_layout *layout,
			     const struct call *call,
			     struct lua_function *function)
{
	unsigned char value[LUA_VALUE_BYTES], proto[LUA_PROTO_BYTES];
	uintptr_t at, size;

	if (read_lua_bytes(value, call->func, sizeof(value)) ||
	    value[LUA_VALUE_TAG] != layout->tag_lua ||
	    read_lua_bytes(&at, frame_word(value, 0) + layout->lua_proto,
			   sizeof(at)) ||
	    read_lua_bytes(proto, at, sizeof(proto)))
		return -EFAULT;
	size =
		4 * (uintptr_t)(unsigned int)frame_int(proto,
						       layout->proto_size);
	if (call->pc - frame_word(proto, layout->proto_code) > size)
		return -EFAULT;
	function->line = frame_int(proto, layout->proto_line);
	at = frame_word(proto, layout->proto_source);
	function->source = at ? at + layout->string_text : 0;
	return function->line < 0 ? -EFAULT : 0;
}

/* ---- Runs ---------------------------------------------------------------- */

static int end_run(struct question *question, struct coroutine *coroutine)
{
	if (question->nr_runs == SFJIT_ASSIST_FRAMES)
		return refuse(question, LUA_DEEP);
	question->ends[++question->nr_runs] = question->nr_functions;
	coroutine->nr_runs++;
	return 0;
}

static int add_lua_function(struct question *question, const struct call *call)
{
	if (question->nr_functions == SFJIT_ASSIST_FRAMES)
		return refuse(question, LUA_DEEP);
	if (read_lua_function(&question->reader->layout, call,
			      question->functions + question->nr_functions))
		return refuse(question, LUA_TORN);
	question->nr_functions++;
	return 0;
}

/* A Lua function that C has called is fresh. */
static int add_call(struct question *question, struct coroutine *coroutine,
		    const struct call *call)
{
	if (call->is_c) {
		if (question->nr_functions != question->ends[question->nr_runs])
			return refuse(question, LUA_TORN);
		return 0;
	}
	if (add_lua_function(question, call))
		return -1;
	return call->is_fresh ? end_run(question, coroutine) : 0;
}

/* The outermost CallInfo is in the lua_State, and is a C function's. */
static int read_calls(struct question *question, struct coroutine *coroutine)
{
	const struct lua_layout *layout = &question->reader->layout;
	unsigned int left = MAX_CALLS;
	struct call call = { 0 };
	uintptr_t ci, first, now;

	if (read_lua_bytes(&first, coroutine->state + layout->state_ci,
			   sizeof(first)))
		return refuse(question, LUA_TORN);
	coroutine->first_run = question->nr_runs;
	for (ci = first; ci; ci = call.previous) {
		if (!left--)
			return refuse(question, LUA_DEEP);
		if (read_call(layout, ci, &call))
			return refuse(question, LUA_TORN);
		if (ci == first)
			coroutine->top = call;
		else if (ci == coroutine->top.previous)
			coroutine->below = call;
		if (add_call(question, coroutine, &call))
			return -1;
	}
	/* If another thread runs this state, the list has changed. */
	if (!call.is_c ||
	    read_lua_bytes(&now, coroutine->state + layout->state_ci,
			   sizeof(now)) || now != first)
		return refuse(question, LUA_TORN);
	return 0;
}

/* ---- Coroutines ---------------------------------------------------------- */

bool lua_is_on_stack(uintptr_t address, uintptr_t sp)
{
	uintptr_t top = (uintptr_t)pthread_self();

	/*
	 * The kernel stores AT_RANDOM's bytes above the first thread's stack.
	 */
	if (syscall(SYS_gettid) == getpid())
		top = getauxval(AT_RANDOM);
	return address >= sp && address < top;
}

static uintptr_t jump_of(const struct question *question, uintptr_t state)
{
	uintptr_t jump;

	if (read_lua_bytes(&jump, state + question->reader->layout.state_jump,
			   sizeof(jump)))
		return 0;
	return jump;
}

/* Keeps the outermost coroutine that runs inside of @resumer. */
static void keep_outermost(const struct question *question,
			   const unsigned char *value, uintptr_t resumer,
			   struct coroutine *found)
{
	uintptr_t jump;

	if (value[LUA_VALUE_TAG] != question->reader->layout.tag_thread)
		return;
	jump = jump_of(question, frame_word(value, 0));
	if (jump < question->sp || jump >= resumer || jump <= found->jump)
		return;
	found->state = frame_word(value, 0);
	found->jump = jump;
}

static void check_upvalue(const struct question *question,
			  const unsigned char *function, uintptr_t resumer,
			  struct coroutine *found)
{
	const struct lua_layout *layout = &question->reader->layout;
	unsigned char value[LUA_VALUE_BYTES];

	if (function[LUA_VALUE_TAG] == layout->tag_c &&
	    !read_lua_bytes(value, frame_word(function, 0) + layout->c_value,
			    sizeof(value)))
		keep_outermost(question, value, resumer, found);
}

/*
 * Finds the coroutine that the C function @call has resumed; state is 0 if
 * none.
 */
static struct coroutine find_resumed(const struct question *question,
				     const struct call *call,
				     uintptr_t resumer)
{
	unsigned char values[1 + MAX_ARGUMENTS][LUA_VALUE_BYTES];
	struct coroutine found = { 0 };
	unsigned int i;

	if (!call->is_c || read_lua_bytes(values, call->func, sizeof(values)))
		return found;
	check_upvalue(question, values[0], resumer, &found);
	for (i = 1; i <= MAX_ARGUMENTS; i++)
		keep_outermost(question, values[i], resumer, &found);
	return found;
}

static int read_coroutines(struct question *question,
			   struct coroutine coroutine)
{
	while (coroutine.state) {
		if (question->nr_coroutines == MAX_COROUTINES)
			return refuse(question, LUA_DEEP);
		if (read_calls(question, &coroutine))
			return -1;
		question->coroutines[question->nr_coroutines++] = coroutine;
		coroutine = find_resumed(question, &coroutine.top,
					 coroutine.jump);
	}
	return 0;
}

/* Finds the state that this thread runs. */
static int find_state(const struct question *question, struct coroutine *main)
{
	unsigned int i;
	uintptr_t jump;
	uintptr_t state;

	for (i = 0; i < SFJIT_LUA_STATES; i++) {
		state = (uintptr_t)__atomic_load_n(
			&question->reader->states[i], __ATOMIC_ACQUIRE);
		jump = state ? jump_of(question, state) : 0;
		if (!jump || !lua_is_on_stack(jump, question->sp))
			continue;
		if (main->state)
			return refuse(question, LUA_TWO_STATES);
		main->state = state;
		main->jump = jump;
	}
	return 0;
}

/* ---- Native frames ------------------------------------------------------- */

static uintptr_t pc_of(const struct sfjit_assist_stack *stack, uint32_t frame)
{
	/* The byte after a call may belong to another function. */
	return stack->frames[frame] - (frame > 0);
}

static bool is_in_texts(const struct lua_texts *texts, uintptr_t pc)
{
	unsigned int i;

	for (i = 0; i < texts->nr; i++)
		if (lua_is_in(&texts->text[i], pc))
			return true;
	return false;
}

static int find_native(struct question *question)
{
	const struct lua_native *native = &question->reader->native;
	const struct sfjit_assist_stack *stack = question->stack;
	struct segment *segment = question->segments;
	unsigned int nr = 0;
	uint32_t i;

	*segment = (struct segment){ 0 };
	for (i = 0; i < stack->nr; i++) {
		if (lua_is_in(&native->loop, pc_of(stack, i))) {
			question->loops[nr++] = i;
			segment->nr++;
		} else if (is_in_texts(&native->switches, pc_of(stack, i))) {
			if (++segment == question->segments + MAX_COROUTINES + 1)
				return refuse(question, LUA_DEEP);
			*segment = (struct segment){ .first = nr };
		}
	}
	question->nr_segments = segment - question->segments + 1;
	return 0;
}

/* After an error there are calls whose native frames are gone. */
static bool is_catching(const struct question *question)
{
	const struct lua_native *native = &question->reader->native;
	const struct sfjit_assist_stack *stack = question->stack;

	return is_in_texts(&native->catch, pc_of(stack, 0)) ||
	       lua_is_in(&native->protect, pc_of(stack, 0)) ||
	       /* longjmp() has returned, or is about to call luaV_execute. */
	       (stack->nr > 1 && lua_is_in(&native->protect, pc_of(stack, 1)) &&
		!lua_is_in(&native->loop, pc_of(stack, 0)));
}

/* Whether the caller's instruction calls the innermost function. */
static bool is_called_there(const struct coroutine *coroutine)
{
	uint32_t instruction;

	return !coroutine->below.is_c &&
	       !read_lua_bytes(&instruction, coroutine->below.pc - 4,
			       sizeof(instruction)) &&
	       coroutine->top.func == coroutine->below.func + LUA_VALUE_BYTES *
			(1 + LUA_CALL_REGISTER(instruction));
}

/*
 * A CallInfo that is being filled has the contents of an earlier call. If it
 * says C function, that is harmless. If luaV_execute makes the call, and the
 * innermost function is where the caller's instruction says, it is the callee
 * or the caller. A fresh one is the caller, if the number of native frames is
 * right.
 */
static bool is_certain(const struct question *question,
		       const struct coroutine *coroutine,
		       const struct segment *segment)
{
	const struct lua_native *native = &question->reader->native;
	const struct sfjit_assist_stack *stack = question->stack;

	if (!is_in_texts(&native->enter, pc_of(stack, 0)) ||
	    coroutine->top.is_c)
		return true;
	if (!is_in_texts(&native->call_c, pc_of(stack, 0)) || stack->nr < 2 ||
	    !lua_is_in(&native->loop, pc_of(stack, 1)))
		return false;
	return coroutine->top.is_fresh ? coroutine->nr_runs == segment->nr :
		is_called_there(coroutine);
}

/* ---- The answer ---------------------------------------------------------- */

static int insert_run(const struct question *question, unsigned int run,
		      unsigned int behind)
{
	uint64_t address;
	unsigned int i;

	for (i = question->ends[run]; i < question->ends[run + 1]; i++) {
		address = lua_name(&question->functions[i]);
		if (!address)
			return refuse(question, LUA_NO_NAME);
		if (sfjit_assist_insert(question->stack, behind, address))
			return refuse(question, LUA_DEEP);
	}
	return 0;
}

/* Insert runs left by a yield after the resumed one. */
static int insert_runs(const struct question *question,
		       const struct coroutine *coroutine,
		       const struct segment *segment)
{
	unsigned int run, loop;

	for (run = 0; run < coroutine->nr_runs; run++) {
		loop = run < segment->nr ? run : segment->nr - 1;
		if (insert_run(question, coroutine->first_run + run,
			       question->loops[segment->first + loop]))
			return -1;
	}
	return 0;
}

/* Whether a C function was called between a native frame and the next. */
static bool has_c_behind(const struct question *question, unsigned int loop)
{
	uint32_t i;

	for (i = question->loops[loop] + 1; i < question->loops[loop + 1]; i++)
		if (is_in_texts(&question->reader->native.call_c,
				pc_of(question->stack, i)))
			return true;
	return false;
}

/*
 * A run that has ended may still have its native frame while luaV_execute or
 * luaD_poscall returns. Then the innermost function has called it.
 */
static bool may_return(const struct question *question,
		       const struct coroutine *coroutine,
		       const struct segment *segment)
{
	const struct lua_native *native = &question->reader->native;
	uintptr_t pc = pc_of(question->stack, 0);

	if (segment != question->segments)
		return false;
	if (!lua_is_in(&native->loop, pc) && !is_in_texts(&native->leave, pc))
		return false;
	return coroutine->top.is_c || !has_c_behind(question, segment->first);
}

/*
 * A resumed coroutine may have runs without native frames. Their number is
 * known if the coroutine has one native frame; or if it has none of them, which
 * is certain unless a run that has ended may still have its native frame.
 */
static bool fits_question(const struct question *question,
			  const struct coroutine *coroutine,
			  const struct segment *segment)
{
	const struct sfjit_assist_stack *stack = question->stack;
	uint32_t outermost;

	if (!segment->nr)
		return !coroutine->nr_runs;
	outermost = question->loops[segment->first + segment->nr - 1];
	if (coroutine == question->coroutines ||
	    (outermost + 1 < stack->nr && stack->frames[outermost + 1] ==
	     question->reader->native.started))
		return coroutine->nr_runs == segment->nr;
	if (segment->nr == 1)
		return coroutine->nr_runs;
	return coroutine->nr_runs == segment->nr &&
	       !may_return(question, coroutine, segment);
}

/*
 * luaV_execute was interrupted and the innermost function is C: it is returning
 * to luaV_execute.
 */
static void drop_returning(struct question *question)
{
	struct segment *segment = question->segments;

	if (!lua_is_in(&question->reader->native.loop,
		       pc_of(question->stack, 0)) ||
	    !question->coroutines[question->nr_coroutines - 1].top.is_c)
		return;
	segment->first++;
	segment->nr--;
}

/*
 * At the start and end of lua_resume, and after an error, no coroutine runs in
 * it.
 */
static int match(struct question *question)
{
	const struct segment *segment = question->segments;
	unsigned int i = question->nr_coroutines;

	if (question->nr_segments != i)
		return refuse(question, LUA_COROUTINE);
	if (!is_certain(question, &question->coroutines[i - 1], segment))
		return refuse(question, LUA_IN_CALL);
	drop_returning(question);
	while (i--) {
		if (!fits_question(question, &question->coroutines[i], segment))
			return refuse(question, LUA_COUNT);
		if (insert_runs(question, &question->coroutines[i], segment))
			return -1;
		segment++;
	}
	return 0;
}

int lua_add_frames(const struct sfjit_assist_stack *stack, void *reader)
{
	const ucontext_t *context = stack->context;
	struct coroutine main = { 0 };
	struct question question;

	question.stack = stack;
	question.reader = reader;
	question.sp = CONTEXT_SP(context);
	question.nr_functions = 0;
	question.nr_runs = 0;
	question.ends[0] = 0;
	question.nr_coroutines = 0;
	if (find_state(&question, &main))
		return -1;
	if (!main.state) {
		refuse(&question, LUA_NO_STATE);
		return 0;
	}
	if (is_catching(&question))
		return refuse(&question, LUA_IN_CALL);
	if (read_coroutines(&question, main) || find_native(&question))
		return -1;
	return match(&question);
}
