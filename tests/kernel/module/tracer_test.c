// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A stack that is withheld, with several tracers that come and go, by the module
 * sframe_tracer.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <linux/userfaultfd.h>

#include "assist_harness.h"

#include "below.h"
#include "sframe_tracer.h"

#define DEVICE		"/dev/sframe_tracer"
#define PARAMETERS	"/sys/module/sframe_tracer/parameters/"

/* False if not all of the functions that it calls were found. */
static bool tell_module(void)
{
	static const struct { const char *symbol, *file; } told[] = {
		{ "unwind_deferred_init", PARAMETERS "init" },
		{ "unwind_deferred_request", PARAMETERS "request" },
		{ "unwind_deferred_cancel", PARAMETERS "cancel" },
	};
	char line[256], addr[32] = "0x", symbol[128];
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned int nr = 0, i;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%16s %*c %127s", addr + 2, symbol) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(told); i++)
			if (!strcmp(symbol, told[i].symbol) &&
			    !sft_write_text(told[i].file, addr))
				nr++;
	}
	if (file)
		fclose(file);
	return nr == ARRAY_SIZE(told);
}

static const char *begin_module(void)
{
	if (access(DEVICE, F_OK))
		return "module sframe_tracer is not loaded";
	return tell_module() ? NULL : "kernel without CONFIG_KALLSYMS";
}

static int open_tracer(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC);
}

static struct seen seen_by(int tracer)
{
	struct seen seen;

	if (read(tracer, &seen, sizeof(seen)) != sizeof(seen))
		memset(&seen, 0xff, sizeof(seen));
	return seen;
}

/*
 * struct tracers - what the handler has
 * @open:	tracers; the first may be cancelled
 * @later:	one that the handler opens, or -1
 * @request:	what a request there returns
 */
struct tracers {
	int	open[2];
	int	later;
	int	request;
};

FIXTURE(tracer)
{
	struct tracers		tracers;
	struct sft_write_call	call;
	struct sfa_session	perf;
};

FIXTURE_SETUP(tracer)
{
	const char *why = sfa_missing() ?: begin_module();

	if (why)
		SKIP(return, "%s", why);
	begin_session(_metadata, &self->perf);
	self->tracers.later = -1;
	self->tracers.open[0] = open_tracer();
	self->tracers.open[1] = open_tracer();
	ASSERT_LE(0, self->tracers.open[1]);
	sfa_me.data = &self->tracers;
	self->call = (struct sft_write_call){
		.call = { sft_write }, .fd = self->tracers.open[0], .byte = "r",
	};
}

FIXTURE_TEARDOWN(tracer)
{
	close(self->tracers.open[0]);
	close(self->tracers.open[1]);
	close(self->tracers.later);
	end_session(_metadata, &self->perf);
}

/* Is it the one stack of this tracer, and with the cookie of its request? */
static bool has_one(const struct seen *seen, bool assisted)
{
	return seen->stacks == 1 && seen->requested &&
	       seen->cookie == seen->requested && seen->assisted == assisted;
}

static bool has_marks(const struct seen *seen)
{
	return has_one(seen, true) && seen->nr == SFA_NR_MARKS &&
	       !memcmp(seen->ip, sfa_marks, sizeof(sfa_marks));
}

static bool has_walk(const struct seen *seen)
{
	const __u64 ip[] = { (uintptr_t)sft_write_ret, SFT_CALLERS };
	struct sft_chain chain = { .nr = seen->nr };

	if (!has_one(seen, false) || seen->nr > SEEN_MAX)
		return false;
	memcpy(chain.ip, seen->ip, seen->nr * sizeof(chain.ip[0]));
	return sft_chain_check(&chain, ip, 2);
}

#define EXPECT_SEEN(has, tracer) do {					\
	const struct seen _seen = seen_by(tracer);			\
									\
	EXPECT_TRUE(has(&_seen))					\
		TH_LOG("%llu stacks, cookie %llx of %llx, %llu frames",	\
		       _seen.stacks, _seen.cookie, _seen.requested,	\
		       _seen.nr);					\
} while (0)

#define EXPECT_NOTHING(tracer)						\
	EXPECT_EQ(0, seen_by(tracer).stacks)

/* Guards against: an answer that only the first one gets. */
TEST_F(tracer, each_gets_the_answer)
{
	const struct sfa_counts before = sfa_counts();

	sft_run(&self->call.call);
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	EXPECT_SEEN(has_marks, self->tracers.open[0]);
	EXPECT_SEEN(has_marks, self->tracers.open[1]);
}

/* Guards against: a walk that is withheld from some of them. */
TEST_F(tracer, each_gets_the_walk)
{
	ASSERT_EQ(0, sfa_off());
	sft_run(&self->call.call);
	EXPECT_EQ(0, sfa_me.handled);
	EXPECT_SEEN(has_walk, self->tracers.open[0]);
	EXPECT_SEEN(has_walk, self->tracers.open[1]);
}

/* Guards against: a walk that is lost when there is no answer. */
TEST_F(tracer, each_gets_the_walk_in_the_end)
{
	sfa_me.answer = NULL;
	sft_run(&self->call.call);
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_NOTHING(self->tracers.open[0]);
	ASSERT_EQ(0, sfa_off());
	EXPECT_SEEN(has_walk, self->tracers.open[0]);
	EXPECT_SEEN(has_walk, self->tracers.open[1]);
}

static void say_after_request(struct sfa_thread *me)
{
	struct tracers *tracers = me->data;

	tracers->request = write(tracers->open[0], "r", 1) < 0 ? -errno : 0;
	sfa_say_frames(me);
}

/* Guards against: a stack of one tracer that another one gets. */
TEST_F(tracer, request_while_perf_has_a_question_open)
{
	sfa_me.answer = say_after_request;
	EXPECT_TRUE(sfa_is_marks(sfa_sample(&self->perf)));
	EXPECT_EQ(-EBUSY, self->tracers.request);
	EXPECT_NOTHING(self->tracers.open[0]);
	EXPECT_NOTHING(self->tracers.open[1]);
}

static void say_after_cancel(struct sfa_thread *me)
{
	struct tracers *tracers = me->data;

	if (write(tracers->open[0], "c", 1) == 1)
		sfa_say_frames(me);
}

/* Guards against: a tracer that is called after it was cancelled. */
TEST_F(tracer, cancelled_while_a_question_is_open)
{
	const struct sfa_counts before = sfa_counts();

	sfa_me.answer = say_after_cancel;
	sft_run(&self->call.call);
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	EXPECT_NOTHING(self->tracers.open[0]);
	EXPECT_SEEN(has_marks, self->tracers.open[1]);
}

static void replace(struct tracers *tracers)
{
	if (write(tracers->open[0], "c", 1) == 1)
		tracers->later = open_tracer();
}

static void say_after_replacing(struct sfa_thread *me)
{
	replace(me->data);
	sfa_say_frames(me);
}

/* Guards against: a stack of one that is gone, for the next with its number. */
TEST_F(tracer, replaced_while_a_question_is_open)
{
	sfa_me.answer = say_after_replacing;
	sft_run(&self->call.call);
	EXPECT_EQ(0, sfa_me.ret);
	ASSERT_LE(0, self->tracers.later);
	EXPECT_NOTHING(self->tracers.later);
	EXPECT_SEEN(has_marks, self->tracers.open[1]);

	/* It gets its own. */
	sfa_me.answer = sfa_say_frames;
	self->call.fd = self->tracers.later;
	sft_run(&self->call.call);
	EXPECT_SEEN(has_marks, self->tracers.later);
}

/* Guards against an answer without a reader, and a leak. */
TEST_F(tracer, all_are_cancelled)
{
	EXPECT_EQ(1, write(self->tracers.open[1], "c", 1));
	sfa_me.answer = say_after_cancel;
	sft_run(&self->call.call);
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_NOTHING(self->tracers.open[0]);
	EXPECT_NOTHING(self->tracers.open[1]);
	sfa_me.answer = sfa_say_frames;
	EXPECT_TRUE(sfa_is_marks(sfa_sample(&self->perf)));
}

/* ---- A walk that waits for memory --------------------------------------- */

/*
 * struct absent - a page that another thread brings in
 * @page:	its address
 * @fd:		tells when a thread waits for it
 * @switches:	event of scheduling out, or -1
 * @meanwhile:	what the thread does before
 * @tracers:	for that
 */
struct absent {
	__u8		*page;
	int		fd, switches;
	void		(*meanwhile)(struct tracers *tracers);
	struct tracers	*tracers;
};

static int make_absent(struct absent *absent)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = SFT_PAGE, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	absent->page = sft_map(SFT_PAGE, SFT_RW);
	absent->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (!absent->page || absent->fd < 0 ||
	    ioctl(absent->fd, UFFDIO_API, &api))
		return -1;
	range.range.start = (uintptr_t)absent->page;
	return ioctl(absent->fd, UFFDIO_REGISTER, &range);
}

/* The function that the first thread sleeps in, or "0" if it has a CPU. */
static bool has_left_cpu(void)
{
	FILE *file = fopen("/proc/self/wchan", "re");
	int first = file ? fgetc(file) : EOF;

	if (file)
		fclose(file);
	return first != '0';
}

static void *bring_in(void *arg)
{
	const struct absent *absent = arg;
	struct uffdio_zeropage zeros = {
		.range = { (uintptr_t)absent->page, SFT_PAGE },
	};
	struct uffd_msg msg;

	if (read(absent->fd, &msg, sizeof(msg)) != sizeof(msg))
		return (void *)-1;
	/*
	 * The first thread waits for its page. Its state says so before it has
	 * left its CPU; if it is woken then, it is not scheduled out.
	 */
	while (!has_left_cpu())
		sched_yield();
	if (absent->meanwhile)
		absent->meanwhile(absent->tracers);
	return (void *)(long)ioctl(absent->fd, UFFDIO_ZEROPAGE, &zeros);
}

/*
 * A waiting thread is scheduled out, which sets arm64's flag of pending work if
 * there are restartable sequences; then the kernel asks no thread.
 */
static int leave_sequences(void)
{
	return __rseq_size &&
	       syscall(__NR_rseq, (char *)__builtin_thread_pointer() +
		       __rseq_offset, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

/* Have all tracers request a walk whose first frame is there. */
static void request_below(const struct absent *absent)
{
	madvise(absent->page, SFT_PAGE, MADV_DONTNEED_LOCKED);
	ioctl(absent->switches, PERF_EVENT_IOC_ENABLE, 0);
	call_below(absent->page, __NR_write, absent->tracers->open[0], "r", 1);
	ioctl(absent->switches, PERF_EVENT_IOC_DISABLE, 0);
}

static void walk_below(struct __test_metadata *_metadata,
		       struct absent *absent)
{
	const struct sched_param param = { .sched_priority = 1 };
	pthread_t thread;
	void *failed;

	/* Nothing of the guest takes the CPU, so no other switch is counted. */
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
	ASSERT_EQ(0, pthread_create(&thread, NULL, bring_in, absent));
	request_below(absent);
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
}

/* Guards against: a stack of one that is gone, for the next with its number. */
TEST_F(tracer, replaced_while_the_walk_waits)
{
	const struct sfa_counts before = sfa_counts();
	struct absent absent = {
		.switches = -1, .meanwhile = replace,
		.tracers = &self->tracers,
	};

	ASSERT_EQ(0, make_absent(&absent));
	ASSERT_EQ(0, leave_sequences());
	walk_below(_metadata, &absent);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	ASSERT_LE(0, self->tracers.later);
	EXPECT_NOTHING(self->tracers.open[0]);
	EXPECT_NOTHING(self->tracers.later);
	EXPECT_SEEN(has_marks, self->tracers.open[1]);
	close(absent.fd);
}

static bool is_unasked(const struct seen *seen)
{
	return has_one(seen, false);
}

/*
 * Guards against a duplicate stack if another tracer requests it during the
 * walk. That request is pending work, so the kernel asks no thread.
 */
TEST_F(tracer, another_request_while_the_walk_waits)
{
	struct absent absent = { .tracers = &self->tracers };
	struct perf_event_attr attr;

	ASSERT_EQ(0, make_absent(&absent));
	sfa_switches_init(&attr);
	absent.switches = sfa_event_beside(&self->perf.event, &attr);
	ASSERT_LE(0, absent.switches);
	walk_below(_metadata, &absent);
	EXPECT_EQ(0, sfa_me.handled);
	EXPECT_SEEN(is_unasked, self->tracers.open[0]);
	EXPECT_SEEN(is_unasked, self->tracers.open[1]);
	close(absent.switches);
	close(absent.fd);
}

TEST_HARNESS_MAIN
