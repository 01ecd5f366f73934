// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: threads that the kernel asks for frames: the signal, the
 * alternate stack, the runtimes, and the frames that they insert.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <ucontext.h>

#include "assist.h"

static const char *fail_call;
static void (*at_open)(void);

int sfjit_fault(const char *name)
{
	if (at_open && !strcmp(name, "open"))
		at_open();
	return fail_call && !strcmp(fail_call, name) ? -ENOMEM : 0;
}

/* ---- Allocations ---------------------------------------------------------- */

static _Thread_local bool watched;
static int nr_allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

/* Replaces libc's, for libc as well. */
void *malloc(size_t size)
{
	nr_allocations += watched;
	return __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	nr_allocations += watched;
	return __libc_calloc(nr, size);
}

void *realloc(void *memory, size_t size)
{
	nr_allocations += watched;
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	nr_allocations += watched;
	__libc_free(memory);
}

/* Any range: no code runs there. */
#define TEXT		0x10000UL
#define LENGTH		0x1000UL
#define OTHER		0x20000UL

static int has_register(uintptr_t text, size_t length,
			sfjit_assist_callback callback, void *data)
{
	return sfjit_assist_register((void *)text, length, callback, data);
}

static int has_unregister(uintptr_t text)
{
	return sfjit_assist_unregister((void *)text);
}

static int nothing(const struct sfjit_assist_stack *stack, void *data)
{
	return 0;
}

/* ---- The signal ---------------------------------------------------------- */

static struct sigaction action_of(int signal)
{
	struct sigaction action;

	MUST(!sigaction(signal, NULL, &action));
	return action;
}

static bool is_default(int signal)
{
	struct sigaction action = action_of(signal);

	return !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == SIG_DFL;
}

static int nr_taken(void)
{
	int signal, nr = 0;

	for (signal = 1; signal <= SIGRTMAX; signal++)
		if (signal < 32 || signal >= SIGRTMIN)
			nr += !is_default(signal);
	return nr;
}

static int test_absent(void)
{
	static const int errors[] = { EINVAL, ENOSYS, EPERM, EACCES };
	size_t i;

	present = false;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		absent_error = errors[i];
		IS("no kernel that asks", sfjit_assist_enable(0), -EOPNOTSUPP);
		IS("the same, with a stack",
		   sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), -EOPNOTSUPP);
		IS("disable", sfjit_assist_disable(), 0);
	}
	present = true;
	on_error = ENOMEM;
	IS("a kernel without memory", sfjit_assist_enable(0), -ENOMEM);
	on_error = EOPNOTSUPP;
	IS("a 32-bit program", sfjit_assist_enable(0), -EOPNOTSUPP);
	IS("unknown flags", sfjit_assist_enable(~SFJIT_ASSIST_ALT_STACK),
	   -EINVAL);
	setenv("SFJIT_REASONS", "1", 1);
	IS("under sfjit run --reasons", sfjit_assist_enable(0), -EPERM);
	unsetenv("SFJIT_REASONS");
	IS("no signal was taken", nr_taken(), 0);
	IS("none is counted", counts().signal, 0);
	IS("not on", kernel.signal, 0);
	return finish();
}

/* The C library reserves some signals. */
static int nr_unblocked(const sigset_t *mask)
{
	int signal, nr = 0;

	for (signal = 1; signal <= SIGRTMAX; signal++)
		if (signal < 32 || signal >= SIGRTMIN)
			nr += signal != SIGKILL && signal != SIGSTOP &&
			      !sigismember(mask, signal);
	return nr;
}

static int test_signal(void)
{
	struct sigaction action;

	IS("enable", sfjit_assist_enable(0), 0);
	IS("the last signal", kernel.signal, SIGRTMAX);
	IS("it is told", counts().signal, SIGRTMAX);
	IS("any stack will do", kernel.flags, UNWIND_ASSIST_ANY_STACK);
	action = action_of(SIGRTMAX);
	IS("flags of the handler",
	   action.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART |
			      SA_NODEFER | SA_RESETHAND),
	   SA_SIGINFO | SA_ONSTACK | SA_RESTART);
	IS("signals that are not blocked in it",
	   nr_unblocked(&action.sa_mask), 0);
	IS("others are as they were", nr_taken(), 1);
	IS("once more, with a stack",
	   sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	IS("by the same signal", kernel.signal, SIGRTMAX);
	IS("not on any stack", kernel.flags, 0);
	IS("and no other", nr_taken(), 1);
	IS("disable", sfjit_assist_disable(), 0);
	IS("off", kernel.signal, 0);
	IS("the handler stays", nr_taken(), 1);
	IS("disable again", sfjit_assist_disable(), 0);
	IS("enable again", sfjit_assist_enable(0), 0);
	IS("by the same signal again", kernel.signal, SIGRTMAX);
	return finish();
}

static void do_nothing(int signal)
{
}

static int test_taken(void)
{
	MUST(signal(SIGRTMAX, SIG_IGN) != SIG_ERR);
	MUST(signal(SIGRTMAX - 1, do_nothing) != SIG_ERR);
	IS("enable", sfjit_assist_enable(0), 0);
	IS("neither one with a handler nor one that is ignored",
	   kernel.signal, SIGRTMAX - 2);
	MUST(signal(SIGRTMAX - 2, do_nothing) != SIG_ERR);
	IS("enable when the handler was replaced", sfjit_assist_enable(0), 0);
	IS("another signal", kernel.signal, SIGRTMAX - 3);
	TRUE("the program's handler stays",
	     action_of(SIGRTMAX - 2).sa_handler == do_nothing);
	MUST(signal(SIGRTMAX - 3, SIG_DFL) != SIG_ERR);
	IS("enable when it was removed", sfjit_assist_enable(0), 0);
	IS("the same signal", kernel.signal, SIGRTMAX - 3);
	TRUE("it has a handler again", !is_default(SIGRTMAX - 3));
	return finish();
}

static int test_all_taken(void)
{
	int i;

	for (i = SIGRTMIN; i <= SIGRTMAX; i++)
		MUST(signal(i, do_nothing) != SIG_ERR);
	IS("no signal is left", sfjit_assist_enable(0), -EBUSY);
	IS("not on", kernel.signal, 0);
	IS("none is counted", counts().signal, 0);
	return finish();
}

static void take_at_the_same_time(int number)
{
	after_on = NULL;
	MUST(signal(number, do_nothing) != SIG_ERR);
}

static int test_taken_meanwhile(void)
{
	after_on = take_at_the_same_time;
	IS("enable", sfjit_assist_enable(0), 0);
	TRUE("who was faster keeps it",
	     action_of(SIGRTMAX).sa_handler == do_nothing);
	IS("the next", kernel.signal, SIGRTMAX - 1);
	TRUE("has a handler", !is_default(SIGRTMAX - 1));
	return finish();
}

/* As if another copy of the library had enabled it. */
static int test_other_copy(void)
{
	kernel.signal = SIGRTMIN;
	IS("a thread that is asked already", sfjit_assist_enable(0), -EBUSY);
	IS("as it was", kernel.signal, SIGRTMIN);
	IS("no signal was taken", nr_taken(), 0);
	return finish();
}

/* ---- The alternate stack -------------------------------------------------- */

static stack_t stack_now(void)
{
	stack_t stack;

	MUST(!sigaltstack(NULL, &stack));
	return stack;
}

static uintptr_t frame_of_callback;

static int note_frame(const struct sfjit_assist_stack *stack, void *data)
{
	frame_of_callback = (uintptr_t)__builtin_frame_address(0);
	return 0;
}

static void ask_in_text(void)
{
	ask((const uint64_t[]){ TEXT }, 1);
}

static int test_stack(void)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *bottom;
	stack_t stack;

	IS("enable", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	stack = stack_now();
	bottom = stack.ss_sp;
	IS("the thread has a stack", stack.ss_flags, 0);
	TRUE("of 64 KiB, and what the kernel saves",
	     stack.ss_size >= 65536 + getauxval(AT_MINSIGSTKSZ));
	TRUE("it can be written", has_perms(bottom, "rw-p"));
	TRUE("up to its end", has_perms(bottom + stack.ss_size - 1, "rw-p"));
	TRUE("below it is a guard", has_perms(bottom - page, "---p"));
	MUST(!has_register(TEXT, LENGTH, note_frame, NULL));
	ask_in_text();
	TRUE("callbacks are on it", frame_of_callback - (uintptr_t)bottom <
	     stack.ss_size);
	IS("enable again", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	TRUE("the same stack", stack_now().ss_sp == bottom);
	IS("disable", sfjit_assist_disable(), 0);
	IS("the stack is taken back", stack_now().ss_flags, SS_DISABLE);
	TRUE("its memory, too", has_perms(bottom, ""));
	TRUE("and the guard", has_perms(bottom - page, ""));
	return finish();
}

static int test_own_stack(void)
{
	static unsigned char memory[65536];
	const stack_t own = { .ss_sp = memory, .ss_size = sizeof(memory) };
	unsigned char *given;

	MUST(!sigaltstack(&own, NULL));
	IS("enable with a stack", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK),
	   0);
	TRUE("it stays", stack_now().ss_sp == memory);
	IS("disable", sfjit_assist_disable(), 0);
	TRUE("it stays then", stack_now().ss_sp == memory);
	MUST(!sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL));
	IS("enable", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	given = stack_now().ss_sp;
	MUST(!sigaltstack(&own, NULL));
	IS("disable when the program has set its own",
	   sfjit_assist_disable(), 0);
	TRUE("that stays", stack_now().ss_sp == memory);
	TRUE("what was given has gone", has_perms(given, ""));
	MUST(!sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL));
	IS("enable", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	given = stack_now().ss_sp;
	MUST(!sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL));
	fail_call = "mmap";
	IS("no memory for another one",
	   sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), -ENOMEM);
	fail_call = NULL;
	TRUE("what the program took away has gone", has_perms(given, ""));
	return finish();
}

static int test_small_stack(void)
{
	static unsigned char memory[16384], large[65536];
	const stack_t small = { .ss_sp = memory, .ss_size = sizeof(memory) };
	const stack_t enough = { .ss_sp = large, .ss_size = sizeof(large) };
	struct sfjit_assist_stats stats = { .size = sizeof(stats) };

	MUST(!has_register(TEXT, LENGTH, note_frame, NULL));
	MUST(!sigaltstack(&small, NULL));
	IS("with the flag", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK),
	   -ENOSPC);
	IS("without", sfjit_assist_enable(0), -ENOSPC);
	IS("no signal was taken", nr_taken(), 0);
	TRUE("it stays", stack_now().ss_sp == memory);
	MUST(!sigaltstack(&enough, NULL));
	IS("with room", sfjit_assist_enable(0), 0);
	frame_of_callback = 0;
	ask_in_text();
	TRUE("callbacks are on it", frame_of_callback - (uintptr_t)large <
	     sizeof(large));
	MUST(!sigaltstack(&small, NULL));
	frame_of_callback = 0;
	ask_in_text();
	IS("a small one later: no callback", frame_of_callback, 0);
	MUST(!sfjit_assist_stats(&stats));
	IS("the kernel's walk is the answer", stats.native, 2);
	MUST(!sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL));
	ask_in_text();
	TRUE("none: the thread's own has room", frame_of_callback);
	return finish();
}

static void disable_on_stack(int signal)
{
	IS("disable on the stack", sfjit_assist_disable(), -EBUSY);
	IS("off", kernel.signal, 0);
	IS("the stack stays", stack_now().ss_flags, SS_ONSTACK);
}

static int test_stack_in_use(void)
{
	struct sigaction action = {
		.sa_handler = disable_on_stack, .sa_flags = SA_ONSTACK,
	};

	MUST(!sigaction(SIGUSR1, &action, NULL));
	IS("enable", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	raise(SIGUSR1);
	IS("there still", stack_now().ss_flags, 0);
	IS("disable", sfjit_assist_disable(), 0);
	IS("taken back", stack_now().ss_flags, SS_DISABLE);
	return finish();
}

static int test_no_stack(void)
{
	fail_call = "mmap";
	IS("no memory", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), -ENOMEM);
	fail_call = NULL;
	IS("not on", kernel.signal, 0);
	on_error = ENOMEM;
	IS("none of the kernel's", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK),
	   -ENOMEM);
	IS("no stack is left", stack_now().ss_flags, SS_DISABLE);
	IS("no signal was taken", nr_taken(), 0);
	return finish();
}

static void *enable_and_end(void *enabled)
{
	if (enabled)
		MUST(!sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK));
	return stack_now().ss_sp;
}

static int test_stack_of_thread(void)
{
	pthread_t thread;
	void *stack;

	IS("enable", sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK), 0);
	MUST(!pthread_create(&thread, NULL, enable_and_end, NULL));
	MUST(!pthread_join(thread, &stack));
	TRUE("a new thread has none", !stack);
	MUST(!pthread_create(&thread, NULL, enable_and_end, &kernel));
	MUST(!pthread_join(thread, &stack));
	TRUE("until it enables itself", stack);
	TRUE("which goes when it ends", has_perms(stack, ""));
	IS("and is not asked any more", nr_off, 1);
	IS("that of the first stays", stack_now().ss_flags, 0);
	return finish();
}

/* ---- Runtimes ------------------------------------------------------------- */

static int test_register(void)
{
	int i, bad = 0;

	IS("no text", has_register(0, LENGTH, nothing, NULL), -EINVAL);
	IS("no length", has_register(TEXT, 0, nothing, NULL), -EINVAL);
	IS("no callback", has_register(TEXT, LENGTH, NULL, NULL), -EINVAL);
	IS("wraps", has_register(-16UL, 17, nothing, NULL), -EINVAL);
	IS("register", has_register(TEXT, LENGTH, nothing, NULL), 0);
	IS("the same", has_register(TEXT, LENGTH, nothing, NULL), -EEXIST);
	IS("over its first byte", has_register(TEXT - 15, 16, nothing, NULL),
	   -EEXIST);
	IS("over its last byte",
	   has_register(TEXT + LENGTH - 1, 16, nothing, NULL), -EEXIST);
	IS("within", has_register(TEXT + 16, 16, nothing, NULL), -EEXIST);
	IS("around", has_register(TEXT - 16, 2 * LENGTH, nothing, NULL),
	   -EEXIST);
	IS("before it", has_register(TEXT - 16, 16, nothing, NULL), 0);
	IS("after it", has_register(TEXT + LENGTH, 16, nothing, NULL), 0);
	for (i = 3; i < SFJIT_ASSIST_RUNTIMES; i++)
		bad += !!has_register(OTHER + 16 * i, 16, nothing, NULL);
	IS("16 of them", bad, 0);
	IS("the 17th", has_register(OTHER, 16, nothing, NULL), -ENOSPC);
	IS("the 17th, twice", has_register(TEXT, 16, nothing, NULL), -EEXIST);
	IS("not a first byte", has_unregister(TEXT + 1), -ENOENT);
	IS("unregister", has_unregister(TEXT), 0);
	IS("again", has_unregister(TEXT), -ENOENT);
	IS("a place is free", has_register(OTHER, 16, nothing, NULL), 0);
	IS("and no second", has_register(TEXT, 16, nothing, NULL), -ENOSPC);
	return finish();
}

static int nr_calls;
static struct sfjit_assist_stack last_stack;
static void *last_data;

static int note_call(const struct sfjit_assist_stack *stack, void *data)
{
	nr_calls++;
	last_stack = *stack;
	last_data = data;
	return 0;
}

/* Counts calls of a callback for a walk of two frames. */
static int calls_for(uint64_t pc, uint64_t caller)
{
	nr_calls = 0;
	ask((const uint64_t[]){ pc, caller }, 2);
	return nr_calls;
}

static int test_range(void)
{
	ucontext_t *context;

	MUST(!sfjit_assist_enable(0));
	IS("no runtime", calls_for(TEXT, TEXT), 0);
	IS("the kernel's walk", kernel.nr_answer, 0);
	MUST(!has_register(TEXT, LENGTH, note_call, &nr_calls));
	IS("neither", calls_for(OTHER, OTHER), 0);
	IS("at its first byte", calls_for(TEXT, OTHER), 1);
	TRUE("data", last_data == &nr_calls);
	IS("size", last_stack.size, sizeof(last_stack));
	IS("frames", last_stack.nr, 2);
	context = (ucontext_t *)last_stack.context;
	TRUE("context", context && (uintptr_t)context >
	     (uintptr_t)__builtin_frame_address(0) - (1 << 20));
	IS("before it", calls_for(TEXT - 1, OTHER), 0);
	IS("at its last byte", calls_for(TEXT + LENGTH - 1, OTHER), 1);
	IS("after it", calls_for(TEXT + LENGTH, OTHER), 0);
	IS("a return to its first byte", calls_for(OTHER, TEXT), 0);
	IS("a return to its second", calls_for(OTHER, TEXT + 1), 1);
	IS("a call that is its end", calls_for(OTHER, TEXT + LENGTH), 1);
	IS("a return after that", calls_for(OTHER, TEXT + LENGTH + 1), 0);
	IS("both frames", calls_for(TEXT, TEXT + 1), 1);
	IS("unregister", has_unregister(TEXT), 0);
	IS("not any more", calls_for(TEXT, TEXT + 1), 0);
	return finish();
}

/* ---- Insertions ------------------------------------------------------------ */

/*
 * A callback's actions: it inserts these up to @address 0, then returns @ret.
 */
struct script {
	struct {
		uint32_t behind;
		uint64_t address;
		int want;
	} insert[8];
	int ret;
};

#define AT(behind, address)	{ behind, address, 0 }

static int nr_unwanted;

static int run_script(const struct sfjit_assist_stack *stack, void *data)
{
	const struct script *script = data;
	int i;

	for (i = 0; script->insert[i].address; i++)
		nr_unwanted += sfjit_assist_insert(stack,
				script->insert[i].behind,
				script->insert[i].address) !=
			       script->insert[i].want;
	return script->ret;
}

static bool answer_is(const uint64_t *want, int nr)
{
	return kernel.nr_answer == nr && kernel.nr_answers == 1 &&
	       !memcmp(kernel.answer, want, nr * sizeof(*want));
}

#define ANSWERED(...) answer_is((const uint64_t[]){ __VA_ARGS__ }, \
	sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* A walk with a frame of each runtime. */
#define WALK	TEXT, OTHER + 1, OTHER + 17, 0x9000

static void ask_walk(void)
{
	nr_unwanted = 0;
	ask((const uint64_t[]){ WALK }, 4);
}

static struct script script[3];

static void register_scripts(int nr)
{
	static const uintptr_t text[] = { TEXT, OTHER, OTHER + 16 };

	while (nr--)
		MUST(!has_register(text[nr], 16, run_script, &script[nr]));
}

static int test_insert(void)
{
	MUST(!sfjit_assist_enable(0));
	register_scripts(1);
	ask_walk();
	IS("nothing is inserted", kernel.nr_answer, 0);
	script[0] = (struct script){ { AT(0, 0xa1) }, 0 };
	ask_walk();
	TRUE("after the innermost",
	     ANSWERED(TEXT, 0xa1, OTHER + 1, OTHER + 17, 0x9000));
	script[0] = (struct script){ { AT(3, 0xa1) }, 0 };
	ask_walk();
	TRUE("after the outermost",
	     ANSWERED(TEXT, OTHER + 1, OTHER + 17, 0x9000, 0xa1));
	script[0] = (struct script){ {
		AT(0, 0xa1), AT(0, 0xa2), AT(2, 0xa3), AT(3, 0xa4),
	}, 0 };
	ask_walk();
	TRUE("several, outward", ANSWERED(TEXT, 0xa1, 0xa2, OTHER + 1,
					  OTHER + 17, 0xa3, 0x9000, 0xa4));
	IS("each was taken", nr_unwanted, 0);
	script[0] = (struct script){ {
		{ 4, 0xa1, -ERANGE }, AT(1, 0xa2), { 0, 0xa3, -ERANGE },
		{ UINT32_MAX, 0xa4, -ERANGE }, AT(1, 0xa5),
	}, 0 };
	ask_walk();
	IS("others are refused", nr_unwanted, 0);
	TRUE("and not inserted", ANSWERED(TEXT, OTHER + 1, 0xa2, 0xa5,
					  OTHER + 17, 0x9000));
	return finish();
}

static int insert_nothing(const struct sfjit_assist_stack *stack, void *data)
{
	nr_unwanted = sfjit_assist_insert(stack, 0, 0) != -EINVAL;
	return sfjit_assist_insert(stack, 0, 0xa1);
}

static int test_no_address(void)
{
	MUST(!sfjit_assist_enable(0));
	MUST(!has_register(TEXT, LENGTH, insert_nothing, NULL));
	nr_unwanted = 1;
	ask_in_text();
	IS("address 0 is refused", nr_unwanted, 0);
	TRUE("and not inserted", ANSWERED(TEXT, 0xa1));
	return finish();
}

static int test_merge(void)
{
	int i;

	MUST(!sfjit_assist_enable(0));
	register_scripts(3);
	script[0] = (struct script){ { AT(0, 0xa1), AT(3, 0xa2) }, 0 };
	script[1] = (struct script){ { AT(1, 0xb1), AT(1, 0xb2) }, 0 };
	script[2] = (struct script){ { AT(0, 0xc1), AT(2, 0xc2) }, 0 };
	ask_walk();
	IS("each has its own order", nr_unwanted, 0);
	TRUE("by position, those of each together",
	     ANSWERED(TEXT, 0xc1, 0xa1, OTHER + 1, 0xb1, 0xb2, OTHER + 17,
		      0xc2, 0x9000, 0xa2) ||
	     ANSWERED(TEXT, 0xa1, 0xc1, OTHER + 1, 0xb1, 0xb2, OTHER + 17,
		      0xc2, 0x9000, 0xa2));
	script[1] = (struct script){ { AT(0, 0) }, 0 };
	script[2] = script[1];
	ask_walk();
	TRUE("one of three", ANSWERED(TEXT, 0xa1, OTHER + 1, OTHER + 17,
				      0x9000, 0xa2));
	/* Whichever is called first. */
	for (i = 0; i < 3; i++) {
		script[i].ret = -1;
		ask_walk();
		IS("one is not sure", kernel.nr_answer, 0);
		script[i].ret = 0;
	}
	ask_walk();
	IS("all are sure", kernel.nr_answer, 6);
	IS("unsure", counts().unsure, 3);
	return finish();
}

static int nr_inserted, nr_refused;

static int insert_many(const struct sfjit_assist_stack *stack, void *data)
{
	unsigned long i;
	int ret;

	for (i = 0; i < 600; i++) {
		ret = sfjit_assist_insert(stack, stack->nr - 1, 0x50000 + i);
		nr_inserted += !ret;
		nr_refused += ret == -ENOSPC;
	}
	return 0;
}

static void ask_of(unsigned int nr)
{
	unsigned int i;

	nr_inserted = 0;
	nr_refused = 0;
	for (i = 0; i < nr && i < UNWIND_ASSIST_MAX_FRAMES; i++)
		kernel.frames[i] = TEXT + i;
	ask_about(nr);
}

static int test_limit(void)
{
	int i, bad = 0;

	MUST(!sfjit_assist_enable(0));
	MUST(!has_register(TEXT, LENGTH, insert_many, NULL));
	ask_of(10);
	IS("inserted to 10 frames", nr_inserted, 500);
	IS("refused", nr_refused, 100);
	IS("frames of the answer", kernel.nr_answer, 510);
	for (i = 0; i < 510; i++)
		bad += kernel.answer[i] !=
		       (i < 10 ? TEXT + i : 0x50000UL + i - 10);
	IS("each in its place", bad, 0);
	ask_of(509);
	IS("inserted to 509 frames", nr_inserted, 1);
	IS("the last frame", kernel.answer[509], 0x50000);
	ask_of(510);
	IS("inserted to 510 frames", nr_inserted, 0);
	IS("the kernel's walk", kernel.nr_answer, 0);
	ask_of(511);
	IS("a walk that is too long", nr_inserted + nr_refused, 0);
	IS("is the kernel's", kernel.nr_answer, 0);
	ask_of(0);
	IS("an empty walk", kernel.nr_answer, 0);
	return finish();
}

/* ---- What becomes of a question --------------------------------------------- */

static bool counts_are(uint64_t answered, uint64_t native, uint64_t late,
		       uint64_t unsure)
{
	struct sfjit_assist_stats stats = counts();

	return stats.answered == answered && stats.native == native &&
	       stats.late == late && stats.unsure == unsure &&
	       stats.asked == answered + native + late + unsure;
}

/* The kernel cancels a request after so many calls. */
static void ask_late(int left)
{
	kernel.open = true;
	kernel.nr = 1;
	kernel.frames[0] = TEXT;
	kernel.token++;
	kernel.left = left;
	kernel.nr_answer = -1;
	nr_calls = 0;
	send_signal(kernel.signal, SI_KERNEL, kernel.token);
}

static int test_outcomes(void)
{
	struct sfjit_assist_stats small = { .size = sizeof(small) - 1 };

	IS("counts: nowhere", sfjit_assist_stats(NULL), -EINVAL);
	IS("counts: too small", sfjit_assist_stats(&small), -EINVAL);
	MUST(!sfjit_assist_enable(0));
	register_scripts(1);
	TRUE("no question", counts_are(0, 0, 0, 0));
	script[0] = (struct script){ { AT(0, 0xa1) }, 0 };
	ask_walk();
	TRUE("answered", counts_are(1, 0, 0, 0));
	script[0].ret = -1;
	ask_walk();
	TRUE("unsure", counts_are(1, 0, 0, 1));
	IS("what was inserted is dropped", kernel.nr_answer, 0);
	ask((const uint64_t[]){ OTHER }, 1);
	TRUE("native", counts_are(1, 1, 0, 1));
	script[0].ret = 0;
	ask_late(0);
	TRUE("given up before it was read", counts_are(1, 1, 1, 1));
	ask_late(1);
	TRUE("given up before the answer", counts_are(1, 1, 2, 1));
	IS("no answer", kernel.nr_answer, -1);
	script[0].ret = -1;
	ask_late(1);
	TRUE("given up before it was unsure", counts_are(1, 1, 3, 1));
	script[0].ret = 0;
	kernel.refuse = ERANGE;
	ask_walk();
	TRUE("refused", counts_are(1, 2, 3, 1));
	IS("the kernel's walk instead", kernel.nr_answer, 0);
	kernel.nr_answers = 0;
	send_signal(kernel.signal, SI_QUEUE, kernel.token);
	raise(kernel.signal);
	TRUE("not from the kernel", counts_are(1, 2, 3, 1));
	IS("and not answered", kernel.nr_answers, 0);
	kernel.signal = 0;
	send_signal(SIGRTMAX, SI_KERNEL, kernel.token);
	TRUE("a thread that is off", counts_are(1, 2, 4, 1));
	return finish();
}

static int look_around(const struct sfjit_assist_stack *stack, void *data)
{
	sigset_t mask;

	MUST(!pthread_sigmask(SIG_SETMASK, NULL, &mask));
	nr_unwanted += nr_unblocked(&mask);
	nr_calls++;
	errno = ENOTTY;
	return sfjit_assist_insert(stack, 0, 0xa1);
}

static int test_quiet(void)
{
	sigset_t mask;

	MUST(!sfjit_assist_enable(0));
	MUST(!has_register(TEXT, LENGTH, look_around, NULL));
	nr_unwanted = 0;
	errno = EDOM;
	ask_in_text();
	IS("errno is kept", errno, EDOM);
	IS("all signals are blocked", nr_unwanted, 0);
	IS("called once", nr_calls, 1);
	kernel.refuse = ERANGE;
	errno = EILSEQ;
	ask_in_text();
	IS("errno is kept if the kernel refuses", errno, EILSEQ);
	MUST(!pthread_sigmask(SIG_SETMASK, NULL, &mask));
	IS("no signal is blocked in the end",
	   sigismember(&mask, SIGUSR1) + sigismember(&mask, SIGRTMAX), 0);
	return finish();
}

static int test_for_cancel(const struct sfjit_assist_stack *stack, void *data)
{
	pthread_testcancel();
	return sfjit_assist_insert(stack, 0,
				   sfjit_assist_name(1, 2, write_name, "xyz"));
}

static atomic_int stage;

static void *be_cancelled(void *argument)
{
	MUST(!sfjit_assist_enable(0));
	pthread_cancel(pthread_self());
	ask_in_text();
	stage = kernel.nr_answer;
	pthread_testcancel();
	stage = -1;
	return NULL;
}

static int test_cancel(void)
{
	pthread_t thread;
	void *status;

	MUST(!has_register(TEXT, LENGTH, test_for_cancel, NULL));
	MUST(!pthread_create(&thread, NULL, be_cancelled, NULL));
	MUST(!pthread_join(thread, &status));
	IS("answered, with a name", stage, 2);
	TRUE("cancelled later", status == PTHREAD_CANCELED);
	return finish();
}

/* ---- Threads ------------------------------------------------------------------ */

static atomic_int in_callback, may_leave, nr_late_calls;
static atomic_bool unregistered;

static int stay(const struct sfjit_assist_stack *stack, void *data)
{
	nr_late_calls += unregistered;
	in_callback = 1;
	while (!may_leave)
		usleep(100);
	nr_late_calls += unregistered;
	return 0;
}

static void *ask_once(void *argument)
{
	MUST(!sfjit_assist_enable(0));
	ask_in_text();
	return NULL;
}

static atomic_int nr_waits;

/* Replaces libc's: the library waits for callbacks with it. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	nr_waits++;
	return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

static void *unregister(void *argument)
{
	MUST(!has_unregister(TEXT));
	unregistered = true;
	return NULL;
}

static int unregister_in_child(void)
{
	return has_unregister(TEXT);
}

static int test_unregister(void)
{
	pthread_t asked, other;

	MUST(!sfjit_assist_enable(0));
	MUST(!has_register(TEXT, LENGTH, stay, NULL));
	MUST(!pthread_create(&asked, NULL, ask_once, NULL));
	while (!in_callback)
		usleep(100);
	IS("a child of fork does not wait",
	   in_guarded_child(unregister_in_child), 0);
	nr_waits = 0;
	MUST(!pthread_create(&other, NULL, unregister, NULL));
	while (!nr_waits && !unregistered)
		usleep(100);
	TRUE("it waits for the callback", !unregistered);
	in_callback = 0;
	ask_in_text();
	IS("no thread begins another", in_callback, 0);
	may_leave = 1;
	MUST(!pthread_join(other, NULL));
	MUST(!pthread_join(asked, NULL));
	TRUE("and goes on", unregistered);
	IS("no callback later", nr_late_calls, 0);
	return finish();
}

static atomic_bool stop;
static atomic_int nr_dead;

static int look_alive(const struct sfjit_assist_stack *stack, void *data)
{
	nr_dead += !*(atomic_int *)data;
	usleep(10);
	nr_dead += !*(atomic_int *)data;
	in_callback++;
	return 0;
}

static void *ask_often(void *argument)
{
	MUST(!sfjit_assist_enable(0));
	while (!stop)
		ask_in_text();
	return NULL;
}

/* @data is invalid as soon as the call returns. */
static int test_unregister_often(void)
{
	static atomic_int alive[150];
	pthread_t thread[2];
	int i, called = 0;

	for (i = 0; i < 2; i++)
		MUST(!pthread_create(&thread[i], NULL, ask_often, NULL));
	for (i = 0; i < 150; i++) {
		alive[i] = 1;
		in_callback = 0;
		MUST(!has_register(TEXT, LENGTH, look_alive, &alive[i]));
		/* At least half of them during callbacks. */
		while (i % 2 && !in_callback)
			sched_yield();
		usleep(i);
		MUST(!has_unregister(TEXT));
		alive[i] = 0;
		called += in_callback > 0;
	}
	stop = true;
	for (i = 0; i < 2; i++)
		MUST(!pthread_join(thread[i], NULL));
	IS("callbacks with data that had gone", nr_dead, 0);
	TRUE("there were callbacks", called >= 75);
	return finish();
}

/* Inserts names with numbers from @data on. */
static int insert_names(const struct sfjit_assist_stack *stack, void *data)
{
	unsigned long first = *(unsigned long *)data, i;

	for (i = first; i < first + 3; i++)
		if (sfjit_assist_insert(stack, 0, name_number(i)))
			return -1;
	return 0;
}

static unsigned long first_name;
static sem_t is_locked, go_on;

static void wait_locked(void)
{
	at_open = NULL;
	sem_post(&is_locked);
	sem_wait(&go_on);
}

static void *name_locked(void *argument)
{
	MUST(!sfjit_perf_map_name((void *)TEXT, 1, "locked"));
	return NULL;
}

/* Another thread holds the library's lock. */
static int test_locked(void)
{
	pthread_t thread;

	MUST(!sem_init(&is_locked, 0, 0) && !sem_init(&go_on, 0, 0));
	MUST(!sfjit_assist_enable(0));
	MUST(!has_register(TEXT, LENGTH, insert_names, &first_name));
	at_open = wait_locked;
	MUST(!pthread_create(&thread, NULL, name_locked, NULL));
	sem_wait(&is_locked);
	alarm(HANGS_SECONDS);
	ask_in_text();
	alarm(0);
	IS("answered", kernel.nr_answer, 4);
	TRUE("with a name in the file",
	     strstr(read_map(getpid()), " 10 py::2\n"));
	sem_post(&go_on);
	MUST(!pthread_join(thread, NULL));
	TRUE("the other name is there, too",
	     map_has(getpid(), (void *)TEXT, 1, "locked"));
	return finish();
}

static int ask_inherited(void)
{
	first_name = 10;
	watched = true;
	ask_in_text();
	watched = false;
	IS("in a child", kernel.nr_answer, 4);
	IS("allocations in a child", nr_allocations, 0);
	TRUE("inherited names were written",
	     strstr(read_map(getpid()), " 10 py::2\n"));
	return finish();
}

static int test_allocations(void)
{
	void *volatile memory;

	MUST(!sfjit_assist_enable(SFJIT_ASSIST_ALT_STACK));
	MUST(!has_register(TEXT, LENGTH, insert_names, &first_name));
	watched = true;
	memory = malloc(1);
	free(memory);
	IS("allocations are seen", nr_allocations, 2);
	nr_allocations = 0;
	ask_in_text();
	watched = false;
	IS("answered", kernel.nr_answer, 4);
	IS("allocations in the handler", nr_allocations, 0);
	cases_in_child(ask_inherited);
	return finish();
}

/* ---- At any instruction --------------------------------------------------------- */

#define QUESTIONS	3000

static volatile int nr_asked, nr_wrong;

static void ask_now(int signal)
{
	uint64_t want[4] = { TEXT };
	int i;

	if (!kernel.signal || kernel.open)
		return;
	first_name = nr_asked % 700;
	ask_in_text();
	for (i = 0; i < 3; i++)
		want[1 + i] = name_number(first_name + i);
	nr_wrong += !answer_is(want, 4);
	nr_asked++;
}

static volatile sig_atomic_t armed;

static void on_timer(int signal)
{
	ask_now(signal);
	armed = 0;
}

/* One-shot, so that the interrupted code makes progress before the next. */
static void set_timer(void)
{
	struct itimerval timer = { .it_value = { 0, 20 + nr_asked % 180 } };

	if (armed)
		return;
	armed = 1;
	MUST(!setitimer(ITIMER_REAL, &timer, NULL));
}

static int fork_and_ask(void)
{
	nr_wrong = 0;
	ask_now(SIGALRM);
	return nr_wrong;
}

static int work(unsigned long round)
{
	void *volatile memory;
	int bad = 0;

	bad += !!has_register(OTHER, 16, nothing, NULL);
	bad += !name_number(round % 900);
	memory = malloc(round % 5000 + 1);
	free(memory);
	bad += !!has_unregister(OTHER);
	bad += !!sfjit_assist_enable(round % 2 ? SFJIT_ASSIST_ALT_STACK : 0);
	bad += !!sfjit_perf_map_name((void *)TEXT, 1, "line");
	if (round % 64 == 0)
		bad += !!in_child(fork_and_ask);
	if (round % 7 == 0)
		bad += !!sfjit_assist_disable() ||
		       sfjit_assist_enable(0);
	return bad;
}

static int test_anywhere(void)
{
	struct sigaction action = { .sa_handler = on_timer,
				    .sa_flags = SA_RESTART };
	unsigned long round = 0;
	int bad = 0;

	MUST(!sigaction(SIGALRM, &action, NULL));
	MUST(!sfjit_assist_enable(0));
	MUST(!has_register(TEXT, LENGTH, insert_names, &first_name));
	while (nr_asked < QUESTIONS) {
		set_timer();
		bad += work(round++);
	}
	signal(SIGALRM, SIG_IGN);
	IS("errors of what was interrupted", bad, 0);
	IS("wrong answers", nr_wrong, 0);
	TRUE("there was something to interrupt", round > 100);
	return finish();
}

int main(void)
{
	IS("kernels that cannot ask", in_child(test_absent), 0);
	IS("the signal", in_child(test_signal), 0);
	IS("signals that are taken", in_child(test_taken), 0);
	IS("all are taken", in_child(test_all_taken), 0);
	IS("one is taken meanwhile", in_child(test_taken_meanwhile), 0);
	IS("another copy", in_child(test_other_copy), 0);
	IS("a stack", in_child(test_stack), 0);
	IS("stacks of the program", in_child(test_own_stack), 0);
	IS("small ones", in_child(test_small_stack), 0);
	IS("a stack that is in use", in_child(test_stack_in_use), 0);
	IS("no memory for a stack", in_child(test_no_stack), 0);
	IS("stacks of threads", in_child(test_stack_of_thread), 0);
	IS("registration", in_child(test_register), 0);
	IS("which runtimes are called", in_child(test_range), 0);
	IS("insertions", in_child(test_insert), 0);
	IS("insertions of nothing", in_child(test_no_address), 0);
	IS("several runtimes", in_child(test_merge), 0);
	IS("too many frames", in_child(test_limit), 0);
	IS("outcomes", in_child(test_outcomes), 0);
	IS("the state of the thread", in_child(test_quiet), 0);
	IS("cancellation", in_child(test_cancel), 0);
	IS("unregister meanwhile", in_guarded_child(test_unregister), 0);
	IS("unregister often", in_guarded_child(test_unregister_often), 0);
	IS("while the library is locked", in_child(test_locked), 0);
	IS("allocations", in_child(test_allocations), 0);
	IS("at any instruction", in_guarded_child(test_anywhere), 0);
	return finish();
}
