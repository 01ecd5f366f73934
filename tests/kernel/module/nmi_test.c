// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Callchains taken in an NMI and in irq_work, with the module sframe_probe.
 * The module itself fails the write if the context is another one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "assist_harness.h"

#include "code.h"
#include "slots.h"
#include "toggle.h"

#define DEVICE		"/dev/sframe_probe"
/* In percent, how much of the time samples may take: 0 for any. */
#define TIME_LIMIT	"/proc/sys/kernel/perf_cpu_time_max_percent"
/* A second, while time is limited; between two ticks there may be its share. */
#define RATE_LIMIT	"/proc/sys/kernel/perf_event_max_sample_rate"
#define EVENT_ID	\
	"/sys/kernel/tracing/events/sframe_probe/sframe_probe/id"
#define KEY		1
#define KEY_WRITE	2
#define KEY_TOGGLE	3
/* A page for each of the three. */
#define SECTION_SIZE	(3 * SFT_PAGE)

/**
 * struct probe - the module, and an event for its tracepoint
 * @device:	of the module
 * @event:	of callchains
 * @section:	memory for sections
 */
struct probe {
	int			device;
	struct sft_event	event;
	__u8			*section;
};

FIXTURE(nmi)
{
	struct probe		probe;
	__u8			*text;
	struct sft_write_call	call;
	struct sft_chain	chain;
};

FIXTURE_VARIANT(nmi)
{
	const struct sft_slot	*kind;
	char			context;
	bool			defer;
};

FIXTURE_VARIANT_ADD(nmi, nmi_arg_fp) { &sft_slot_arg, 'n', false };
FIXTURE_VARIANT_ADD(nmi, nmi_arg_defer) { &sft_slot_arg, 'n', true };
FIXTURE_VARIANT_ADD(nmi, nmi_rbp_fp) { &sft_slot_rbp, 'n', false };
FIXTURE_VARIANT_ADD(nmi, nmi_rbp_defer) { &sft_slot_rbp, 'n', true };
FIXTURE_VARIANT_ADD(nmi, irq_work_arg_fp) { &sft_slot_arg, 'w', false };
FIXTURE_VARIANT_ADD(nmi, irq_work_arg_defer) { &sft_slot_arg, 'w', true };
FIXTURE_VARIANT_ADD(nmi, irq_work_rbp_fp) { &sft_slot_rbp, 'w', false };
FIXTURE_VARIANT_ADD(nmi, irq_work_rbp_defer) { &sft_slot_rbp, 'w', true };

static void attr_init(struct perf_event_attr *attr, bool defer)
{
	sft_attr_init(attr, PERF_TYPE_TRACEPOINT, defer);
	attr->config = sft_read_number(EVENT_ID);
}

static int open_event(struct sft_event *event, bool defer)
{
	struct perf_event_attr attr;

	attr_init(&attr, defer);
	return sft_event_open(event, &attr);
}

/* NULL, or why there can be none. */
static const char *open_device(struct probe *probe)
{
	if (sft_missing())
		return sft_missing();
	/*
	 * A counter that is limited does not count until a tick comes. On a
	 * busy host ticks of an emulated CPU come late.
	 */
	sft_write_text(RATE_LIMIT, "100000000");
	if (sft_write_text(TIME_LIMIT, "0"))
		return "only root can do that";
	probe->device = open(DEVICE, O_WRONLY | O_CLOEXEC);
	return probe->device < 0 ? "module sframe_probe is not loaded" : NULL;
}

static int make_probe(struct probe *probe, bool defer)
{
	probe->section = sft_map(SECTION_SIZE, SFT_RW);
	return probe->section ? open_event(&probe->event, defer) : -ENOMEM;
}

static void end_probe(struct probe *probe)
{
	sft_event_close(&probe->event);
	close(probe->device);
	munmap(probe->section, SECTION_SIZE);
}

FIXTURE_SETUP(nmi)
{
	const char *why = open_device(&self->probe);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, make_probe(&self->probe, variant->defer));
	self->text = sft_map_code(variant->kind->code, SFT_SLOT, SFT_PAGE);
	ASSERT_NE(NULL, self->text);
	self->call = (struct sft_write_call){
		.call = { self->text, sft_write }, .fd = self->probe.device,
		.byte = &variant->context,
	};
}

FIXTURE_TEARDOWN(nmi)
{
	end_probe(&self->probe);
	munmap(self->text, SFT_PAGE);
}

static int register_code(unsigned long key, __u8 *section, const void *text,
			 size_t size, const struct sft_row *rows,
			 unsigned int nr)
{
	const struct sft_fde fde = {
		.start = text, .size = size, .rows = rows, .nr_rows = nr,
	};

	return sft_register(key, section, sft_build(section, &fde, 1), NULL);
}

/* For a function after its prologue. */
static const struct sft_row rows_with_fp[] = { ROW_WITH_FP(0) };

#define REGISTER(key, offset, text, size, rows, nr)			\
	ASSERT_EQ(0, register_code(key, self->probe.section + (offset),	\
				   text, size, rows, nr))
#define REGISTER_SLOT()							\
	REGISTER(KEY, 0, self->text, SFT_SLOT, variant->kind->rows,	\
		 variant->kind->nr_rows)

/* The only sample of a write below the slot. */
#define EXPECT_WRITE(...) do {						\
	ASSERT_EQ(0, sft_event_sample(&self->probe.event,		\
				      &self->call.call, &self->chain));	\
	EXPECT_CHAIN(&self->chain, (uintptr_t)sft_write_ret,		\
		     __VA_ARGS__);					\
} while (0)

/* The module says in its result whether the context was the right one. */
TEST_F(nmi, context)
{
	EXPECT_EQ(1, write(self->probe.device, &variant->context, 1));
	EXPECT_EQ(-1, write(self->probe.device, "x", 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(nmi, callee_with_frame_pointer)
{
	const uintptr_t ret = (uintptr_t)self->text + variant->kind->ret;

	REGISTER_SLOT();
	if (sft_known_behind(variant->kind))
		EXPECT_WRITE(ret, SFT_CALLERS);
	else
		EXPECT_WRITE(ret);
}

/* After the prologue, up to the end of the system call. */
TEST_F(nmi, callee_in_a_window)
{
	REGISTER_SLOT();
	REGISTER(KEY_WRITE, SFT_PAGE, sft_write, sft_write_ret + 1 - sft_write,
		 rows_with_fp, ARRAY_SIZE(rows_with_fp));
	EXPECT_WRITE((uintptr_t)self->text + variant->kind->ret, SFT_CALLERS);
}

/* Without a window the caller is lost; with rbp in use, the rest as well. */
TEST_F(nmi, without_window_the_caller_is_lost)
{
	uintptr_t ret = (uintptr_t)self->text + variant->kind->ret;
	__u64 words[2];

	memcpy(words, sft_write, sizeof(words));
	if (!variant->kind->fp_lost[1])
		EXPECT_WRITE(ret, SFT_LOST);
	else if (variant->defer || SFT_FP_GOES_UP)
		EXPECT_WRITE(ret);
	else
		EXPECT_WRITE(ret, words[1]);
}

/* ---- A thread that is asked for its stack ------------------------------- */

FIXTURE(asked)
{
	struct probe		probe;
	struct sft_write_call	call;
	struct sfa_session	perf;
};

FIXTURE_VARIANT(asked)
{
	char			context;
};

FIXTURE_VARIANT_ADD(asked, nmi) { 'n' };
FIXTURE_VARIANT_ADD(asked, irq_work) { 'w' };

/**
 * struct asked - what the handler needs of the test
 * @call:	has the thread sampled
 * @wait_ms:	before it does the same
 */
struct asked {
	const struct sft_write_call	*call;
	unsigned int			wait_ms;
};

/* A request that comes while the question is open, from the same context. */
static void say_after_request(struct sfa_thread *me)
{
	const struct asked *asked = me->data;

	sfa_wait_ms(asked->wait_ms);
	if (write(asked->call->fd, asked->call->byte, 1) == 1)
		sfa_say_frames(me);
}

static int begin_asked(struct sfa_session *perf)
{
	struct perf_event_attr attr;

	attr_init(&attr, true);
	attr.sample_type |= PERF_SAMPLE_TID;
	attr.sample_id_all = 1;
	perf->log = &sample_log;
	return sfa_begin() ?: sft_event_open(&perf->event, &attr);
}

FIXTURE_SETUP(asked)
{
	const char *why = open_device(&self->probe) ?: sfa_missing();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, begin_asked(&self->perf));
	self->call = (struct sft_write_call){
		.call = { sft_write }, .fd = self->probe.device,
		.byte = &variant->context,
	};
}

FIXTURE_TEARDOWN(asked)
{
	end_session(_metadata, &self->perf);
	close(self->probe.device);
}

/* Sampled in the write, and once more in the handler. */
static void sample_in_handler(const struct asked *asked,
			      struct sfa_session *perf)
{
	sfa_me.data = (void *)asked;
	sfa_me.answer = say_after_request;
	sfa_enable(&perf->event);
	sft_run(&asked->call->call);
	sfa_disable(&perf->event);
	sfa_session_read(perf);
}

/* The sample that asks, that of the handler, and the stack. */
#define EXPECT_RECORDS(stack) do {					\
	const struct sfa_record *asks = sfa_next(self->perf.log);	\
	const struct sfa_record *direct = sfa_next(self->perf.log);	\
									\
	stack = sfa_next(self->perf.log);				\
	EXPECT_EQ(NULL, sfa_next(self->perf.log));			\
	ASSERT_TRUE(asks && direct && stack);				\
	EXPECT_NE(0, asks->cookie);					\
	EXPECT_EQ(PERF_RECORD_SAMPLE, direct->type);			\
	EXPECT_EQ(0, direct->cookie);					\
	EXPECT_EQ(PERF_RECORD_CALLCHAIN_DEFERRED, stack->type);		\
	EXPECT_EQ(asks->cookie, stack->cookie);				\
} while (0)

/* Guards against: a question that is closed by the request, or another one. */
TEST_F(asked, request_while_open)
{
	const struct asked asked = { &self->call, 0 };
	const struct sfa_record *stack;
	struct sfa_counts before;

	do {
		/* Perhaps something else ran meanwhile, and it was late. */
		self->perf.log->next = self->perf.log->nr;
		sfa_me.handled = 0;
		before = sfa_counts();
		sample_in_handler(&asked, &self->perf);
	} while (sfa_me.ret == -ESRCH);
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_TRUE(sfa_counted(&before, "asked busy answered"));
	EXPECT_RECORDS(stack);
	EXPECT_TRUE(sfa_is_marks(stack));
}

/* Guards against: a walk that is given out in the NMI, or not at all. */
TEST_F(asked, request_too_late)
{
	const struct asked asked = { &self->call, SFA_LATE_MS };
	const struct sfa_counts before = sfa_counts();
	const struct sfa_record *stack;

	sample_in_handler(&asked, &self->perf);
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_EQ(-ESRCH, sfa_me.ret);
	EXPECT_TRUE(sfa_counted(&before, "asked busy late"));
	EXPECT_RECORDS(stack);
	EXPECT_TRUE(sfa_is_walk_at(stack, sft_write_ret));
}

/* ---- An NMI from another CPU, wherever it hits ------------------------- */

FIXTURE(remote)
{
	struct probe		probe;
};

FIXTURE_VARIANT(remote)
{
	bool			defer;
};

FIXTURE_VARIANT_ADD(remote, fp) { false };
FIXTURE_VARIANT_ADD(remote, defer) { true };

FIXTURE_SETUP(remote)
{
	const char *why = open_device(&self->probe);

	if (!why && sysconf(_SC_NPROCESSORS_ONLN) < 2)
		why = "one CPU";
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, make_probe(&self->probe, variant->defer));
}

FIXTURE_TEARDOWN(remote)
{
	end_probe(&self->probe);
}

struct sender {
	int		device;
	unsigned int	rounds;
	bool		begun;
	__u8		stop;
	long		result;
};

/* Sends from CPU 1 to CPU 0, then tells the code there to end. */
static void *send_nmis(void *arg)
{
	struct sender *sender = arg;
	unsigned int i;

	sender->result = sft_run_on(1);
	while (!__atomic_load_n(&sender->begun, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (i = 0; !sender->result && i < sender->rounds; i++) {
		if (write(sender->device, "0", 1) != 1)
			sender->result = -errno;
		usleep(1000);
	}
	__atomic_store_n(&sender->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* User code without frame pointer is hit: no system call is on the way. */
TEST_F(remote, user_code)
{
	__u8 *text = sft_map_code(spin_code, sizeof(spin_code), SFT_PAGE);
	struct sender sender = { .device = self->probe.device, .rounds = 100 };
	const struct sft_call call = { text, &sender.stop };
	struct sft_chain chain;
	pthread_t thread;
	unsigned int samples = 0;

	ASSERT_NE(NULL, text);
	REGISTER(KEY, 0, text, sizeof(spin_code), spin_rows,
		 ARRAY_SIZE(spin_rows));
	ASSERT_EQ(0, sft_run_on(0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, send_nmis, &sender));
	ioctl(self->probe.event.fd, PERF_EVENT_IOC_ENABLE, 0);
	__atomic_store_n(&sender.begun, true, __ATOMIC_RELEASE);
	sft_run(&call);
	ioctl(self->probe.event.fd, PERF_EVENT_IOC_DISABLE, 0);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, sender.result);

	while (!sft_event_any_chain(&self->probe.event, &chain)) {
		/* System calls precede and follow the loop. */
		if (chain.ip[0] < (uintptr_t)text ||
		    chain.ip[0] >= (uintptr_t)text + sizeof(spin_code))
			continue;
		EXPECT_CHAIN(&chain, chain.ip[0], SFT_CALLERS);
		samples++;
	}
	/* Some may hit while the thread does not run. */
	EXPECT_LT(0, samples);
}

/* Each of these is a whole stack, wherever in toggle() it begins. */
static unsigned int check_toggled(struct __test_metadata *_metadata,
				  struct sft_event *event, const __u8 *text,
				  unsigned int *at_round)
{
	struct sft_chain chain;
	unsigned int samples = 0;

	/* Before its prologue is over toggle() has no frame pointer. */
	while (!sft_event_any_chain(event, &chain)) {
		if (chain.ip[0] < (uintptr_t)TOGGLE_BODY ||
		    chain.ip[0] >= (uintptr_t)toggle_ret)
			continue;
		EXPECT_CHAIN(&chain, chain.ip[0],
			     (uintptr_t)text + sft_slot_arg.ret, SFT_CALLERS);
		*at_round += chain.ip[0] == (uintptr_t)TOGGLE_ROUND;
		samples++;
	}
	return samples;
}

/* Windows come and go on the CPU that is interrupted; @walks are made there. */
static void interrupt_changes(struct __test_metadata *_metadata,
			      struct probe *probe, struct sft_event *walks)
{
	static const struct sft_row row = SFT_ROW_CALLED(0);
	__u8 *text = sft_map_code(sft_slot_arg.code, SFT_SLOT, SFT_PAGE);
	__u8 *other = probe->section + SFT_PAGE;
	const struct sft_fde fde = {
		.start = text + 64, .size = 16, .rows = &row, .nr_rows = 1,
	};
	struct toggle arg = {
		.call = { text, toggle },
		.enable = PR_SFRAME_REGISTER,
		.disable = PR_SFRAME_UNREGISTER,
		.key = KEY_TOGGLE,
		.section = (uintptr_t)other,
		.length = sft_build(other, &fde, 1),
	};
	struct sender sender = { .device = probe->device, .rounds = 400 };
	unsigned int samples, at_round = 0, made = 0, walked = 0, runs = 0;
	pthread_t thread;

	ASSERT_NE(NULL, text);
	ASSERT_EQ(0, register_code(KEY, probe->section, text, SFT_SLOT,
				   sft_slot_arg.rows, sft_slot_arg.nr_rows));
	/* Its frame pointer alone may not tell what those rows start from. */
	ASSERT_EQ(0, register_code(KEY_WRITE, probe->section + 2 * SFT_PAGE,
				   TOGGLE_BODY, toggle_ret - TOGGLE_BODY,
				   rows_with_fp, ARRAY_SIZE(rows_with_fp)));
	ASSERT_EQ(0, sft_run_on(0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, send_nmis, &sender));
	ioctl(probe->event.fd, PERF_EVENT_IOC_ENABLE, 0);
	if (walks)
		ioctl(walks->fd, PERF_EVENT_IOC_ENABLE, 0);
	__atomic_store_n(&sender.begun, true, __ATOMIC_RELEASE);
	do {
		/* No more than the ring has room for. */
		arg.count = 200;
		sft_run(&arg.call);
		if (walks)
			walked += check_toggled(_metadata, walks, text, &made);
		runs += 200;
	} while (!__atomic_load_n(&sender.stop, __ATOMIC_ACQUIRE));
	ioctl(probe->event.fd, PERF_EVENT_IOC_DISABLE, 0);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, sender.result);
	EXPECT_EQ(2, sft_windows());

	samples = check_toggled(_metadata, &probe->event, text, &at_round);
	TH_LOG("%u samples, %u of them at %u walks", samples, at_round, made);
	EXPECT_LT(0, samples);
	if (!walks)
		return;
	EXPECT_LT(0, at_round);
	/* QEMU's TCG misses, or repeats, an instruction breakpoint in 10,000. */
	EXPECT_LE(runs - runs / 1000, walked);
	EXPECT_GE(runs + runs / 1000, walked);
}

/*
 * The tree is changed all the time on the CPU that is interrupted: a walk in
 * the middle of a change has to end, and to find the window which stays.
 */
TEST_F(remote, in_the_middle_of_changes)
{
	interrupt_changes(_metadata, &self->probe, NULL);
}

/*
 * The same with a walk in each round, which keeps and uses rules. A walk that
 * interrupts it keeps and uses those of the same addresses.
 */
TEST_F(remote, in_the_middle_of_walks)
{
	struct sft_event walks;

	ASSERT_EQ(0, sft_break_open(&walks, TOGGLE_ROUND, false));
	interrupt_changes(_metadata, &self->probe, &walks);
	sft_event_close(&walks);
}

TEST_HARNESS_MAIN
