// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Stacks through signal handlers, of real signals and of made-up frames: the
 * restorer's FDE has the signal bit, so the walk takes the registers that the
 * kernel saved.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>

#include "harness.h"

#include "slots.h"

#define KEY_SLOT	1
#define KEY_RESTORER	2
#define KEY_LEAF	3
#define KEY_HANDLER	4
#define KEY_KILL	5

#define ALT_SIZE	(16 * SFT_PAGE)
/* Below and above all mappings without a fixed address. */
#define LOW		((void *)(1UL << 40))
#define HIGH		((void *)SFT_HIGH)

/* Each section of a fixture has a fixed place. */
#define SECTION(key)	(self->section + (key) * 256)

/* The FDE of a restorer: no rows; it starts at @start. */
static struct sft_fde restorer_fde(const char *start)
{
	return (struct sft_fde){
		.start = start, .size = sft_restorer_end - start,
		.info = SFRAME_FDE_SIGNAL,
	};
}

static int register_fde(unsigned long key, __u8 *section,
			const struct sft_fde *fde)
{
	return sft_register(key, section, sft_build(section, fde, 1), NULL);
}

static struct sft_fde slot_fde(const struct sft_slot *kind, const __u8 *text)
{
	return (struct sft_fde){
		.start = text, .size = SFT_SLOT, .rows = kind->rows,
		.nr_rows = kind->nr_rows,
	};
}

static int register_slot(__u8 *section, const __u8 *text)
{
	const struct sft_fde fde = slot_fde(&sft_slot_interrupted, text);

	return register_fde(KEY_SLOT, section, &fde);
}

static int register_restorer(__u8 *section, const char *start)
{
	const struct sft_fde fde = restorer_fde(start);

	return register_fde(KEY_RESTORER, section, &fde);
}

static int register_leaf(unsigned long key, __u8 *section, const char *start,
			 const char *end)
{
	const struct sft_fde fde = SFT_FDE(start, end - start, sft_leaf_rows);

	return register_fde(key, section, &fde);
}

#ifdef SFT_KILL_ROWS
static int register_kill(__u8 *section)
{
	const struct sft_fde fde = SFT_FDE(sft_kill, sft_kill_end - sft_kill,
					   sft_kill_rows);

	return register_fde(KEY_KILL, section, &fde);
}
#endif

/* The kernel's structure: it allows a restorer other than the C library's. */
struct kernel_sigaction {
	const void	*handler;
	unsigned long	flags;
	const void	*restorer;
	unsigned long	mask;
};

#define SA_RESTORER	0x04000000

static int handle_by(int sig, const void *handler, unsigned long flags,
		     const void *restorer)
{
	const struct kernel_sigaction action = {
		.handler = handler,
		.flags = flags | SA_RESTORER,
		.restorer = restorer,
	};

	return syscall(__NR_rt_sigaction, sig, &action, NULL, 8);
}

static int handle(int sig, const void *handler, unsigned long flags)
{
	return handle_by(sig, handler, flags | SA_SIGINFO, sft_restorer);
}

/* ---- Real signals ------------------------------------------------------ */

enum where { ON_THIS_STACK, BELOW, ABOVE };

FIXTURE(signal)
{
	__u8			*text;
	__u8			*section;
	struct sft_call		call;
	unsigned long		flags;
};

FIXTURE_VARIANT(signal)
{
	bool			defer;
	enum where		where;
};

FIXTURE_VARIANT_ADD(signal, fp) { false, ON_THIS_STACK };
FIXTURE_VARIANT_ADD(signal, defer) { true, ON_THIS_STACK };
FIXTURE_VARIANT_ADD(signal, fp_altstack_below) { false, BELOW };
FIXTURE_VARIANT_ADD(signal, defer_altstack_below) { true, BELOW };
FIXTURE_VARIANT_ADD(signal, fp_altstack_above) { false, ABOVE };
FIXTURE_VARIANT_ADD(signal, defer_altstack_above) { true, ABOVE };

/* The stack of sft_run() is between these two. */
static int set_altstack(enum where where)
{
	stack_t alt = { .ss_size = ALT_SIZE };

	if (where == ON_THIS_STACK)
		return 0;
	alt.ss_sp = mmap(where == BELOW ? LOW : HIGH, ALT_SIZE, SFT_RW,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0);
	return alt.ss_sp == MAP_FAILED ? -1 : sigaltstack(&alt, NULL);
}

FIXTURE_SETUP(signal)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->text = sft_make_slot(&sft_slot_interrupted, NULL);
	ASSERT_NE(NULL, self->text);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->call.entry = self->text;
	self->call.target = sft_leaf;
	if (variant->where != ON_THIS_STACK)
		self->flags = SA_ONSTACK;
	ASSERT_EQ(0, set_altstack(variant->where));
	ASSERT_EQ(0, handle(SIGTRAP, sft_handler, self->flags));
	ASSERT_EQ(0, register_restorer(SECTION(KEY_RESTORER),
				       sft_restorer_fde));
	ASSERT_EQ(0, register_slot(SECTION(KEY_SLOT), self->text));
#ifdef SFT_KILL_ROWS
	/* The caller's rows need more than a step without rows gives. */
	ASSERT_EQ(0, register_kill(SECTION(KEY_KILL)));
#endif
}

FIXTURE_TEARDOWN(signal)
{
	munmap(self->text, SFT_SLOT_MAP);
	munmap(self->section, SFT_PAGE);
}

/* A call that SIGTRAP interrupts at @trap, once in each run. */
struct trapped_call {
	const void		*trap;
	const struct sft_call	*call;
};

/*
 * The event that raises SIGTRAP fires only once, so open a new one for each
 * run. Otherwise a repeated run would have no signal.
 */
static void run_trapped(const void *arg)
{
	const struct trapped_call *run = arg;
	struct sft_event trap;

	if (sft_trap_open(&trap, run->trap)) {
		perror("# no event that raises SIGTRAP");
		return;
	}
	sft_run(run->call);
	sft_event_close(&trap);
}

/* The callchain at @addr, with a SIGTRAP at @trap. */
static int signal_chain(const void *trap, const void *addr, bool defer,
			const struct sft_call *call, struct sft_chain *chain)
{
	const struct trapped_call run = { trap, call };
	struct sft_event event;
	int ret = sft_break_open(&event, addr, defer);

	if (ret)
		return ret;
	ret = sft_event_sample_run(&event, run_trapped, &run, chain);
	sft_event_close(&event);
	return ret;
}

#define EXPECT_SIGNAL(trap, addr, ...) do {				\
	const void *_addr = (addr);					\
	struct sft_chain _chain;					\
									\
	ASSERT_EQ(0, signal_chain((trap), _addr, variant->defer,	\
				  &self->call, &_chain));		\
	EXPECT_CHAIN(&_chain, (uintptr_t)_addr, ##__VA_ARGS__);		\
} while (0)

#define RESTORER	((uintptr_t)sft_restorer)

/* Guards against: a walk that skips the interrupted function, or its caller. */
TEST_F(signal, each_instruction_of_a_trampoline_is_interrupted)
{
	unsigned int i;

	for (i = 0; i < sft_nr_insns(&sft_slot_interrupted); i++) {
		const __u8 *ip = self->text + sft_slot_interrupted.insns[i];

		TH_LOG("instruction at %u", sft_slot_interrupted.insns[i]);
		EXPECT_SIGNAL(ip, sft_handler_body, RESTORER, (uintptr_t)ip,
			      SFT_CALLERS);
	}
}

/* Guards against: a row of another instruction in a prologue or epilogue. */
TEST_F(signal, each_instruction_of_a_callee_is_interrupted)
{
	const uintptr_t ret = (uintptr_t)self->text + sft_slot_interrupted.ret;
	unsigned int i;

	ASSERT_EQ(0, register_leaf(KEY_LEAF, SECTION(KEY_LEAF), sft_leaf,
				   sft_leaf_end));
	for (i = 0; i < ARRAY_SIZE(sft_leaf_insns); i++) {
		const char *ip = sft_leaf + sft_leaf_insns[i];

		TH_LOG("instruction at %u", sft_leaf_insns[i]);
		EXPECT_SIGNAL(ip, sft_handler_body, RESTORER, (uintptr_t)ip,
			      ret, SFT_CALLERS);
	}
}

/* Guards against: losing the restorer while the handler has no frame. */
TEST_F(signal, each_instruction_of_the_handler)
{
	const void *ip = self->text + sft_slot_interrupted.insns[3];
	unsigned int i;

	ASSERT_EQ(0, register_leaf(KEY_HANDLER, SECTION(KEY_HANDLER),
				   sft_handler, sft_handler_end));
	for (i = SFT_HANDLER_FIRST; i < ARRAY_SIZE(sft_leaf_insns); i++) {
		TH_LOG("instruction at %u", sft_leaf_insns[i]);
		EXPECT_SIGNAL(ip, sft_handler + sft_leaf_insns[i], RESTORER,
			      (uintptr_t)ip, SFT_CALLERS);
	}
}

#ifndef SFT_NO_EVENTS_IN_RESTORER
/* Guards against: looking up a sampled restorer one byte early. */
TEST_F(signal, each_instruction_of_the_restorer)
{
	const void *ip = self->text + sft_slot_interrupted.insns[3];

	EXPECT_SIGNAL(ip, sft_restorer, (uintptr_t)ip, SFT_CALLERS);
	EXPECT_SIGNAL(ip, sft_restorer_syscall, (uintptr_t)ip, SFT_CALLERS);
}
#endif

/* Guards against: looking up the interrupted address one byte early. */
TEST_F(signal, first_byte_behind_another_function_is_interrupted)
{
	static const struct sft_row wrong = SFT_OUTERMOST(0);
	const unsigned int first = sft_slot_interrupted.insns[1];
	const struct sft_fde fdes[] = {
		{ .start = self->text, .size = first, .rows = &wrong,
		  .nr_rows = 1 },
		SFT_FDE(self->text + first, SFT_SLOT - first,
			sft_slot_interrupted.rows),
	};
	size_t len = sft_build(SECTION(KEY_SLOT), fdes, 2);
	const void *ip = self->text + first;

	ASSERT_EQ(0, sft_register_text(KEY_SLOT, SECTION(KEY_SLOT), len,
				       self->text, SFT_SLOT,
				       SFRAME_WINDOW_REPLACE));
	EXPECT_SIGNAL(ip, sft_handler_body, RESTORER, (uintptr_t)ip,
		      SFT_CALLERS);
}

/* Guards against: tests that cannot fail: here the frame must be lost. */
TEST_F(signal, without_the_restorers_window_the_interrupted_frame_is_lost)
{
	const __u64 left = variant->where == ABOVE ? SFT_OTHER_STACK_LOST :
						     SFT_INTERRUPTED_LOST;
	const __u64 ip[] = { (uintptr_t)sft_handler_body, RESTORER, left };
	struct sft_chain chain;

	ASSERT_EQ(0, sft_unregister(KEY_RESTORER));
	ASSERT_EQ(0, signal_chain(self->text + sft_slot_interrupted.insns[2],
				  sft_handler_body, variant->defer,
				  &self->call, &chain));
	EXPECT_TRUE(sft_chain_check(&chain, ip, left ? 3 : 2));
}

/* Guards against: accepting an FDE without the byte before the restorer. */
TEST_F(signal, restorers_window_that_begins_with_it_is_not_found)
{
	const void *ip = self->text + sft_slot_interrupted.insns[2];
	struct sft_chain chain;

	ASSERT_EQ(0, sft_unregister(KEY_RESTORER));
	ASSERT_EQ(0, register_restorer(SECTION(KEY_RESTORER), sft_restorer));
	ASSERT_EQ(0, signal_chain(ip, sft_handler_body, variant->defer,
				  &self->call, &chain));
	ASSERT_LE(2, chain.nr);
	EXPECT_EQ(RESTORER, chain.ip[1]);
	EXPECT_NE((uintptr_t)ip, chain.ip[2]);
#ifndef SFT_NO_EVENTS_IN_RESTORER
	/* As the topmost frame, it is found. */
	EXPECT_SIGNAL(ip, sft_restorer, (uintptr_t)ip, SFT_CALLERS);
#endif
}

/* Guards against: looking up the address after a system call as a call's. */
TEST_F(signal, system_call_is_interrupted)
{
	const uintptr_t ret = (uintptr_t)self->text + sft_slot_interrupted.ret;

	self->call.target = sft_kill;
	ASSERT_EQ(0, handle(SIGUSR1, sft_handler, self->flags));
	EXPECT_SIGNAL(sft_leaf, sft_handler_body, RESTORER,
		      (uintptr_t)sft_kill_ret, ret, SFT_CALLERS);
}

/* Guards against: a walk that follows only one signal frame. */
TEST_F(signal, handler_is_interrupted_at_each_instruction)
{
	const uintptr_t ret = (uintptr_t)self->text + sft_slot_interrupted.ret;
	unsigned int i;

	ASSERT_EQ(0, register_leaf(KEY_HANDLER, SECTION(KEY_HANDLER),
				   sft_handler, sft_handler_end));
	self->call.target = sft_kill;
	ASSERT_EQ(0, handle(SIGUSR1, sft_handler, self->flags));
	ASSERT_EQ(0, handle(SIGTRAP, sft_handler_2, self->flags));
	for (i = 0; i < ARRAY_SIZE(sft_leaf_insns); i++) {
		const char *ip = sft_handler + sft_leaf_insns[i];

		TH_LOG("instruction at %u", sft_leaf_insns[i]);
		EXPECT_SIGNAL(ip, sft_handler_2_body, RESTORER, (uintptr_t)ip,
			      RESTORER, (uintptr_t)sft_kill_ret, ret,
			      SFT_CALLERS);
	}
}

/* Guards against: losing frames if the handler starts in a window. */
TEST_F(signal, handler_is_reached_through_a_trampoline)
{
	__u8 *text = sft_make_slot(&sft_slot_data, sft_handler);
	const void *ip = self->text + sft_slot_interrupted.insns[3];
	const struct sft_fde fde = slot_fde(&sft_slot_data, text);
	unsigned int i;

	ASSERT_NE(NULL, text);
	ASSERT_EQ(0, register_fde(KEY_HANDLER, SECTION(KEY_HANDLER), &fde));
	ASSERT_EQ(0, handle(SIGTRAP, text, self->flags));
	for (i = SFT_HANDLER_FIRST; i < sft_nr_insns(&sft_slot_data); i++)
		EXPECT_SIGNAL(ip, text + sft_slot_data.insns[i], RESTORER,
			      (uintptr_t)ip, SFT_CALLERS);
	ASSERT_EQ(0, register_leaf(KEY_LEAF, SECTION(KEY_LEAF), sft_handler,
				   sft_handler_end));
	EXPECT_SIGNAL(ip, sft_handler_body,
		      (uintptr_t)text + sft_slot_data.ret, RESTORER,
		      (uintptr_t)ip, SFT_CALLERS);
}

/* Guards against: using the handler's registers for the interrupted frame. */
TEST_F(signal, other_registers_are_not_known_behind_a_signal)
{
	static const struct sft_row row = SFT_FLEX(0, SFT_REG(SFT_OTHER_REG), 0);
	const struct sft_fde fde = {
		.start = self->text, .size = SFT_SLOT, .rows = &row,
		.nr_rows = 1, .info2 = SFRAME_FDE_TYPE_FLEX,
	};
	const void *ip = self->text + sft_slot_interrupted.insns[2];
	struct sft_stats stats;

	ASSERT_EQ(0, sft_unregister(KEY_SLOT));
	ASSERT_EQ(0, register_fde(KEY_SLOT, SECTION(KEY_SLOT), &fde));
	EXPECT_SIGNAL(ip, sft_handler_body, RESTORER, (uintptr_t)ip);
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, sft_count(&stats, "row_register"));
	EXPECT_EQ((uintptr_t)ip, stats.last_ip);
}

#if !SFT_TRACED

/* A call whose first run the event misses. */
struct missed_call {
	const struct sft_event		*event;
	const struct trapped_call	*call;
	unsigned int			*nr_runs;
};

static void run_missed(const void *arg)
{
	const struct missed_call *run = arg;

	if (!(*run->nr_runs)++)
		ioctl(run->event->fd, PERF_EVENT_IOC_DISABLE, 0);
	run_trapped(run->call);
	ioctl(run->event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Guards against: a repeated run without a signal. */
TEST_F(signal, signal_comes_again_after_a_missed_event)
{
	const void *ip = self->text + sft_slot_interrupted.insns[3];
	const struct trapped_call call = { ip, &self->call };
	struct sft_event event;
	unsigned int nr_runs = 0;
	const struct missed_call missed = { &event, &call, &nr_runs };
	struct sft_chain chain;

	ASSERT_EQ(0, sft_break_open(&event, sft_handler_body, variant->defer));
	ASSERT_EQ(0, sft_event_sample_run(&event, run_missed, &missed, &chain));
	EXPECT_LE(2, nr_runs);
	EXPECT_CHAIN(&chain, (uintptr_t)sft_handler_body, RESTORER,
		     (uintptr_t)ip, SFT_CALLERS);
	sft_event_close(&event);
}

#endif

/* ---- Another form of signal frames ------------------------------------- */

#ifdef SFT_PLAIN_RESTORER

#define KEY_PLAIN	6
#define PLAIN		((uintptr_t)sft_plain_restorer)

static int register_plain(__u8 *section)
{
	const struct sft_fde fde = {
		.start = sft_plain_restorer_fde,
		.size = sft_plain_restorer_end - sft_plain_restorer_fde,
		.info = SFRAME_FDE_SIGNAL,
	};

	return register_fde(KEY_PLAIN, section, &fde);
}

/* Guards against: assuming that each signal frame has a siginfo. */
TEST_F(signal, handler_without_siginfo)
{
	unsigned int i;

	ASSERT_EQ(0, register_plain(SECTION(KEY_PLAIN)));
	ASSERT_EQ(0, handle_by(SIGTRAP, sft_handler, self->flags,
			       sft_plain_restorer));
	for (i = 0; i < sft_nr_insns(&sft_slot_interrupted); i++) {
		const __u8 *ip = self->text + sft_slot_interrupted.insns[i];

		TH_LOG("instruction at %u", sft_slot_interrupted.insns[i]);
		EXPECT_SIGNAL(ip, sft_handler_body, PLAIN, (uintptr_t)ip,
			      SFT_CALLERS);
		EXPECT_SIGNAL(ip, sft_plain_restorer, (uintptr_t)ip,
			      SFT_CALLERS);
	}
}

/* Guards against: assuming that all signal frames of a walk have one form. */
TEST_F(signal, one_form_interrupts_the_other)
{
	const uintptr_t ret = (uintptr_t)self->text + sft_slot_interrupted.ret;

	ASSERT_EQ(0, register_plain(SECTION(KEY_PLAIN)));
	self->call.target = sft_kill;
	ASSERT_EQ(0, handle(SIGUSR1, sft_handler, self->flags));
	ASSERT_EQ(0, handle_by(SIGTRAP, sft_handler_2, self->flags,
			       sft_plain_restorer));
	EXPECT_SIGNAL(sft_handler_body, sft_handler_2_body, PLAIN,
		      (uintptr_t)sft_handler_body, RESTORER,
		      (uintptr_t)sft_kill_ret, ret, SFT_CALLERS);
	ASSERT_EQ(0, handle_by(SIGUSR1, sft_handler, self->flags,
			       sft_plain_restorer));
	ASSERT_EQ(0, handle(SIGTRAP, sft_handler_2, self->flags));
	EXPECT_SIGNAL(sft_handler_body, sft_handler_2_body, RESTORER,
		      (uintptr_t)sft_handler_body, PLAIN,
		      (uintptr_t)sft_kill_ret, ret, SFT_CALLERS);
}

/* Guards against: accepting a signal bit on code that no handler returns to. */
TEST_F(signal, signal_bit_over_other_code)
{
	const struct sft_fde fde = {
		.start = sft_leaf, .size = sft_leaf_end - sft_leaf,
		.info = SFRAME_FDE_SIGNAL,
	};
	struct sft_stats stats;

	ASSERT_EQ(0, register_fde(KEY_LEAF, SECTION(KEY_LEAF), &fde));
	EXPECT_SIGNAL(sft_outer, sft_leaf_body);
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, sft_count(&stats, "signal"));
	EXPECT_EQ((uintptr_t)sft_leaf_body, stats.last_ip);
}

#endif

/* ---- Probes of handlers ------------------------------------------------ */

#ifndef SFT_NO_PROBES_OF_HANDLERS

/* Guards against: taking the interrupted frame for a probed function entry. */
TEST_F(signal, probe_at_the_entry_of_a_handler)
{
	struct perf_event_attr attr;
	struct sft_event trap, probe;
	struct sft_chain chain;

	sft_attr_init(&attr, 0, variant->defer);
	if (!sft_probe_at(&attr, sft_handler))
		SKIP(return, "kernel without CONFIG_UPROBE_EVENTS");

	ASSERT_EQ(0, register_leaf(KEY_HANDLER, SECTION(KEY_HANDLER),
				   sft_handler, sft_handler_end));
	ASSERT_EQ(0, sft_event_open(&probe, &attr));
	ASSERT_EQ(0, sft_trap_open(&trap, sft_leaf_body));
	ASSERT_EQ(0, sft_event_sample(&probe, &self->call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_handler, RESTORER,
		     (uintptr_t)sft_leaf_body,
		     (uintptr_t)self->text + sft_slot_interrupted.ret, SFT_CALLERS);
	sft_event_close(&trap);
	sft_event_close(&probe);
}

/* Guards against: a pending return probe that hides the restorer. */
TEST_F(signal, return_of_a_handler_is_probed)
{
	struct perf_event_attr attr;
	const void *ip = self->text + sft_slot_interrupted.insns[3];
	struct sft_event probe;

	sft_attr_init(&attr, 0, variant->defer);
	if (!sft_probe_at(&attr, sft_handler))
		SKIP(return, "kernel without CONFIG_UPROBE_EVENTS");

	attr.config = SFT_RETPROBE;
	ASSERT_EQ(0, sft_event_open(&probe, &attr));
	ioctl(probe.fd, PERF_EVENT_IOC_ENABLE, 0);
	EXPECT_SIGNAL(ip, sft_handler_body, RESTORER, (uintptr_t)ip,
		      SFT_CALLERS);
	sft_event_close(&probe);
}
#endif

/* ---- The C library's restorer ------------------------------------------ */

#ifdef SFT_LIBC_RESTORER

struct eh_bases {
	void		*tbase, *dbase, *func;
};

/* A function of the compiler's unwinder; NULL if no FDE covers @pc. */
const void *find_fde(const void *pc, struct eh_bases *bases)
	asm("_Unwind_Find_FDE");

/* mov $15,%rax; syscall */
#define LIBC_RESTORER_SIZE	9

static const char *libc_restorer(void)
{
	struct kernel_sigaction action;

	signal(SIGUSR2, SIG_IGN);
	if (syscall(__NR_rt_sigaction, SIGUSR2, NULL, &action, 8))
		return NULL;
	return action.restorer;
}

/* Guards against: not finding glibc's FDE, which starts one byte early. */
TEST_F(signal, restorer_of_the_c_library)
{
	const char *restorer = libc_restorer();
	const void *ip = self->text + sft_slot_interrupted.insns[3];
	const struct sft_fde fde = {
		.start = restorer - 1, .size = 1 + LIBC_RESTORER_SIZE,
		.info = SFRAME_FDE_SIGNAL,
	};
	struct sigaction action = {
		.sa_handler = (void *)sft_handler, .sa_flags = self->flags,
	};
	struct eh_bases bases;

	ASSERT_NE(NULL, restorer);
	if (!find_fde(restorer - 1, &bases))
		SKIP(return, "the C library does not describe its restorer");

	ASSERT_EQ(restorer - 1, bases.func);
	ASSERT_EQ(0, sft_unregister(KEY_RESTORER));
	ASSERT_EQ(0, register_fde(KEY_RESTORER, SECTION(KEY_RESTORER), &fde));
	ASSERT_EQ(0, sigaction(SIGTRAP, &action, NULL));
	EXPECT_SIGNAL(ip, sft_handler_body, (uintptr_t)restorer, (uintptr_t)ip,
		      SFT_CALLERS);
}

#endif /* SFT_LIBC_RESTORER */

/* ---- Made-up frames ---------------------------------------------------- */

#ifdef __x86_64__

/*
 * The stack above a signal handler with a frame pointer: its frame record and
 * the kernel's signal frame.
 */
struct frame {
	__u64		fp;
	__u64		ret;
	ucontext_t	uc;
};

#define USER_CS		0x33
#define MAX_SIGNALS	8

/* Each frame is on a separate page, so that they can be in any order. */
#define MADE_PAGES	16

FIXTURE(made)
{
	__u8			*section;
	__u8			*stack;
	struct sft_call		call;
};

FIXTURE_VARIANT(made)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(made, fp) { .defer = false };
FIXTURE_VARIANT_ADD(made, defer) { .defer = true };

static struct frame *frame_at(__u8 *stack, unsigned int nr)
{
	return (struct frame *)(stack + nr * SFT_PAGE + 1024);
}

static void set_regs(struct frame *frame, const void *ip, const void *sp,
		     const void *fp)
{
	greg_t *regs = frame->uc.uc_mcontext.gregs;

	regs[REG_RIP] = (uintptr_t)ip;
	regs[REG_RSP] = (uintptr_t)sp;
	regs[REG_RBP] = (uintptr_t)fp;
	regs[REG_CSGSFS] = USER_CS;
}

/* Handler @nr interrupts the handler of the next frame. */
static void link_frame(struct frame *frame, struct frame *next)
{
	frame->ret = RESTORER;
	set_regs(frame, sft_escape_body, &next->fp, &next->fp);
}

/* Handler @nr interrupts what sft_inner's callee returns to. */
static void end_frame(struct frame *frame)
{
	__u64 *callers = (__u64 *)(frame + 1);

	frame->ret = RESTORER;
	set_regs(frame, sft_inner_ret, callers, callers);
	callers[0] = (uintptr_t)(callers + 2);
	callers[1] = (uintptr_t)sft_outer_ret;
	callers[2] = 0;
	callers[3] = (uintptr_t)sft_enter_ret;
}

FIXTURE_SETUP(made)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->stack = sft_map(MADE_PAGES * SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->stack);
	ASSERT_EQ(0, register_restorer(self->section, sft_restorer_fde));
	end_frame(frame_at(self->stack, 0));
	self->call.entry = sft_onto;
	self->call.target = &frame_at(self->stack, 0)->ret;
}

FIXTURE_TEARDOWN(made)
{
	munmap(self->stack, MADE_PAGES * SFT_PAGE);
	munmap(self->section, SFT_PAGE);
}

#define EXPECT_MADE(...) do {						\
	struct sft_chain _chain;					\
									\
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,	\
				  &self->call, &_chain));		\
	EXPECT_CHAIN(&_chain, (uintptr_t)sft_escape_body, ##__VA_ARGS__); \
} while (0)

/* The callchain of @nr handlers in a row, then of sft_inner or of nothing. */
static bool handlers_are(const struct sft_call *call, bool defer,
			 unsigned int nr, bool callers)
{
	__u64 ip[2 * (MAX_SIGNALS + 1) + 1];
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		ip[2 * i] = (uintptr_t)sft_escape_body;
		ip[2 * i + 1] = RESTORER;
	}
	ip[2 * nr] = SFT_CALLERS;
	return !sft_chain_at(sft_escape_body, defer, call, &chain) &&
	       sft_chain_check(&chain, ip, 2 * nr + callers);
}

#define EXPECT_HANDLERS(nr, callers)					\
	EXPECT_TRUE(handlers_are(&self->call, variant->defer, nr, callers))

/* The walk ended at the restorer, or at @ip, for this reason only. */
static void check_reason(struct __test_metadata *_metadata,
			 const char *reason, const void *ip)
{
	struct sft_stats stats;

	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_EQ(1, sft_count(&stats, reason));
	EXPECT_EQ(1, sft_all_refused());
	EXPECT_EQ((uintptr_t)ip, stats.last_ip);
}

#define EXPECT_REFUSED(reason)						\
	check_reason(_metadata, reason, sft_restorer_fde)

static void check_no_reason(struct __test_metadata *_metadata)
{
	struct sft_stats stats;

	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_STREQ("none", stats.last_reason);
}

/* Guards against: tests whose made-up frame is invalid to begin with. */
TEST_F(made, good_frame)
{
	EXPECT_MADE(RESTORER, SFT_CALLERS);
	check_no_reason(_metadata);
}

/* @nr handlers in a row; the frames' addresses go up or down. */
static void make_chain(__u8 *stack, unsigned int nr, bool up)
{
	unsigned int i;

	for (i = 0; i < nr - 1; i++)
		link_frame(frame_at(stack, up ? i : nr - 1 - i),
			   frame_at(stack, up ? i + 1 : nr - 2 - i));
	end_frame(frame_at(stack, up ? nr - 1 : 0));
}

/* Guards against: a limit below eight, or requiring signal steps to go up. */
TEST_F(made, eight_frames)
{
	unsigned int up;

	for (up = 0; up < 2; up++) {
		make_chain(self->stack, MAX_SIGNALS, up);
		self->call.target =
			&frame_at(self->stack, up ? 0 : MAX_SIGNALS - 1)->ret;
		EXPECT_HANDLERS(MAX_SIGNALS, true);
	}
	check_no_reason(_metadata);
}

/* Guards against: a walk that follows more than eight signal frames. */
TEST_F(made, nine_frames)
{
	make_chain(self->stack, MAX_SIGNALS + 1, true);
	EXPECT_HANDLERS(MAX_SIGNALS + 1, false);
	EXPECT_REFUSED("signal");
}

/* Guards against: an endless walk through a frame that leads to itself. */
TEST_F(made, frame_that_leads_to_itself)
{
	struct frame *frame = frame_at(self->stack, 0);

	set_regs(frame, sft_restorer, &frame->uc, NULL);
	EXPECT_MADE(RESTORER, RESTORER, RESTORER, RESTORER, RESTORER, RESTORER,
		    RESTORER, RESTORER, RESTORER);
	check_reason(_metadata, "signal", sft_restorer);
}

/* Guards against: the same with a function in between. */
TEST_F(made, frames_that_lead_to_each_other)
{
	link_frame(frame_at(self->stack, 0), frame_at(self->stack, 1));
	link_frame(frame_at(self->stack, 1), frame_at(self->stack, 0));
	EXPECT_HANDLERS(MAX_SIGNALS + 1, false);
	EXPECT_REFUSED("signal");
}

/* Guards against: following registers of 32-bit code, or with a bad cs. */
TEST_F(made, code_segment_of_something_else)
{
	static const __u16 segments[] = { 0, 0x10, 0x23, 0x32, 0x3b, 0xffff };
	struct frame *frame = frame_at(self->stack, 0);
	struct sft_stats stats;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(segments); i++) {
		TH_LOG("cs %x", segments[i]);
		frame->uc.uc_mcontext.gregs[REG_CSGSFS] = segments[i];
		EXPECT_MADE(RESTORER);
		ASSERT_EQ(0, sft_stats(&stats));
		EXPECT_EQ(i + 1, sft_count(&stats, "signal"));
	}
}

/* Guards against: comparing cs together with the adjacent ss, fs and gs. */
TEST_F(made, other_segments_do_not_matter)
{
	struct frame *frame = frame_at(self->stack, 0);

	frame->uc.uc_mcontext.gregs[REG_CSGSFS] = ~0xffffULL | USER_CS;
	EXPECT_MADE(RESTORER, SFT_CALLERS);
}

/* A slot that was interrupted before its first push, with this sp. */
static void interrupt_slot(__u8 *section, const __u8 *text,
			   struct frame *frame, unsigned long sp)
{
	const struct sft_fde fde = SFT_SLOT_FDE(text, sft_slot_arg);

	register_fde(KEY_SLOT, section, &fde);
	set_regs(frame, text, (void *)sp, NULL);
}

/* Guards against: reading from a kernel address or an invalid one. */
TEST_F(made, stack_pointers_that_lead_nowhere)
{
	static const unsigned long sps[] = {
		0, 8, 1UL << 47, 1UL << 63, 0x00dead0000000000,
		0xffff800000000000, 0xffffffff81000000, 0xffffffffff600000,
		0x7ffffffffff8,
	};
	__u8 *text = sft_make_slot(&sft_slot_arg, NULL);
	struct frame *frame = frame_at(self->stack, 0);
	struct sft_stats stats;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sps); i++) {
		TH_LOG("sp %lx", sps[i]);
		interrupt_slot(self->section + 256, text, frame, sps[i]);
		EXPECT_MADE(RESTORER, (uintptr_t)text);
		ASSERT_EQ(0, sft_stats(&stats));
		EXPECT_EQ(i + 1, sft_count(&stats, "stack_fault"));
		EXPECT_EQ((uintptr_t)text, stats.last_ip);
	}
}

/* Guards against: a wrapped sum of stack pointer and offset. */
TEST_F(made, stack_pointer_at_the_end_of_all_addresses)
{
	__u8 *text = sft_make_slot(&sft_slot_arg, NULL);

	interrupt_slot(self->section + 256, text, frame_at(self->stack, 0),
		       -8UL);
	EXPECT_MADE(RESTORER, (uintptr_t)text);
	check_reason(_metadata, "cfa_order", text);
}

/* Guards against: a step after a signal that may go down. */
TEST_F(made, growth_is_checked_behind_a_signal)
{
	static const struct sft_row down[] = { SFT_SP(0, -8) };
	__u8 *text = sft_make_slot(&sft_slot_arg, NULL);
	const struct sft_fde fde = SFT_FDE(text, SFT_SLOT, down);
	struct frame *frame = frame_at(self->stack, 0);

	ASSERT_EQ(0, register_fde(KEY_SLOT, self->section + 256, &fde));
	set_regs(frame, text, frame + 1, NULL);
	EXPECT_MADE(RESTORER, (uintptr_t)text);
	check_reason(_metadata, "cfa_order", text);
}

/* Copy the made-up frame so that its byte @off begins a page. */
static struct frame *move_frame(__u8 *stack, size_t off)
{
	struct frame *frame = (void *)(stack + 2 * SFT_PAGE - off);

	memcpy(frame, frame_at(stack, 0), sizeof(*frame));
	return frame;
}

/* Guards against: registers from a signal frame that is partly unreadable. */
TEST_F(made, frame_on_a_page_that_is_not_there)
{
	static const size_t offs[] = {
		offsetof(struct frame, uc),
		offsetof(struct frame, uc.uc_mcontext.gregs[REG_RBP]),
		offsetof(struct frame, uc.uc_mcontext.gregs[REG_RSP]),
		offsetof(struct frame, uc.uc_mcontext.gregs[REG_RIP]),
		offsetof(struct frame, uc.uc_mcontext.gregs[REG_CSGSFS]),
	};
	__u8 *page = self->stack + 2 * SFT_PAGE;
	struct sft_stats stats;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		TH_LOG("page begins at %zu", offs[i]);
		self->call.target = &move_frame(self->stack, offs[i])->ret;
		ASSERT_EQ(0, mprotect(page, SFT_PAGE, PROT_NONE));
		EXPECT_MADE(RESTORER);
		ASSERT_EQ(0, mprotect(page, SFT_PAGE, SFT_RW));
		EXPECT_MADE(RESTORER, SFT_CALLERS);
		ASSERT_EQ(0, sft_stats(&stats));
		EXPECT_EQ(i + 1, sft_count(&stats, "stack_fault"));
	}
}

/* Guards against: faulting in a page in an interrupt. */
TEST_F(made, frame_on_a_page_that_is_not_resident)
{
	__u8 *page = self->stack + 2 * SFT_PAGE;

	self->call.target =
		&move_frame(self->stack, offsetof(struct frame, uc))->ret;
	ASSERT_EQ(0, madvise(page, SFT_PAGE, MADV_DONTNEED));
	EXPECT_MADE(RESTORER);
	/* The page is faulted in as zeros, and cs 0 is not valid. */
	EXPECT_REFUSED(variant->defer ? "signal" :
		       "stack_fault");
}

/* Guards against: accepting a signal bit on code that no handler returns to. */
TEST_F(made, signal_bit_over_ordinary_code)
{
	const struct sft_fde fde = {
		.start = sft_escape, .size = 16, .info = SFRAME_FDE_SIGNAL,
	};

	ASSERT_EQ(0, register_fde(KEY_LEAF, self->section + 256, &fde));
	EXPECT_MADE();
	check_reason(_metadata, "signal", sft_escape_body);
}

/* Guards against: using the rows of a signal frame instead of its registers. */
TEST_F(made, rows_of_a_signal_frame_are_not_used)
{
	/* The return address is at the CFA or above, where no call puts it. */
	static const struct sft_row row =
		SFT_FLEX(0, SFT_REG(SFT_REGNUM_SP), SFT_SP_CFA(0),
			 SFT_CFA_DEREF, 8);
	struct sft_fde fde = restorer_fde(sft_restorer_fde);

	fde.rows = &row;
	fde.nr_rows = 1;
	fde.info2 = SFRAME_FDE_TYPE_FLEX;
	ASSERT_EQ(0, sft_unregister(KEY_RESTORER));
	ASSERT_EQ(0, register_fde(KEY_RESTORER, self->section, &fde));
	EXPECT_MADE(RESTORER, SFT_CALLERS);
}

/* Guards against: skipping the alignment check of a frame pointer step. */
TEST_F(made, frame_at_an_odd_address)
{
	struct frame *frame = (void *)(self->stack + 3 * SFT_PAGE + 1001);
	struct sft_chain chain;

	memcpy(frame, frame_at(self->stack, 0), sizeof(*frame));
	self->call.target = &frame->ret;
	/* Frames of frame pointers have to be aligned. */
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer, &self->call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_escape_body);
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
