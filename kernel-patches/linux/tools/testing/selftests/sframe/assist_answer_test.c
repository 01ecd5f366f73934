// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * PR_UNWIND_ASSIST: each documented error, whether the question stays open
 * after it, and what perf writes for each answer.
 */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "assist_harness.h"

#define OTHER_SIGNAL	(SFA_LAST_SIGNAL - 1)

FIXTURE(answer)
{
	struct sfa_session	perf;
};

FIXTURE_SETUP(answer)
{
	if (sfa_missing())
		SKIP(return, "%s", sfa_missing());
	begin_session(_metadata, &self->perf);
}

FIXTURE_TEARDOWN(answer)
{
	end_session(_metadata, &self->perf);
}

#define SAMPLE()	sfa_sample(&self->perf)

/* Sample with @answer in the handler; it must answer in the end. */
static const struct sfa_record *
sample_with(struct __test_metadata *_metadata, struct sfa_session *perf,
	    void (*answer)(struct sfa_thread *me))
{
	const struct sfa_counts before = sfa_counts();
	const unsigned int handled = sfa_me.handled;
	const struct sfa_record *record;

	sfa_me.answer = answer;
	record = sfa_sample(perf);
	EXPECT_EQ(handled + 1, sfa_me.handled);
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
	return record;
}

#define SAMPLE_WITH(answer)	sample_with(_metadata, &self->perf, answer)

/* ---- ON and OFF ------------------------------------------------------ */

static int raw_prctl(unsigned long op, unsigned long arg3, unsigned long arg4,
		     unsigned long arg5)
{
	return prctl(PR_UNWIND_ASSIST, op, arg3, arg4, arg5) ? -errno : 0;
}

struct call {
	unsigned long op, arg3, arg4, arg5;
};

/* Guards against: ignored argument bits, or a refused call that has effects. */
TEST_F(answer, on_and_off_refuse)
{
	static const struct call calls[] = {
		{ PR_UNWIND_ASSIST_ANSWER + 1 },
		{ -1UL },
		{ 1UL << 32 },
		{ 1UL << 32, OTHER_SIGNAL },
		{ PR_UNWIND_ASSIST_ON, 0 },
		{ PR_UNWIND_ASSIST_ON, SIGUSR1 },
		{ PR_UNWIND_ASSIST_ON, SFA_FIRST_SIGNAL - 1 },
		{ PR_UNWIND_ASSIST_ON, SFA_LAST_SIGNAL + 1 },
		{ PR_UNWIND_ASSIST_ON, -1UL },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL | 1UL << 32 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL | 1UL << 63 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL, 1UL << 1 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL, 1UL << 31 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL, 1UL << 32 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL, 1UL << 63 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL,
		  UNWIND_ASSIST_ANY_STACK | 1UL << 32 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL, 0, 1 },
		{ PR_UNWIND_ASSIST_ON, OTHER_SIGNAL, 0, 1UL << 32 },
		{ PR_UNWIND_ASSIST_OFF, 1 },
		{ PR_UNWIND_ASSIST_OFF, 1UL << 32 },
		{ PR_UNWIND_ASSIST_OFF, 0, 1 },
		{ PR_UNWIND_ASSIST_OFF, 0, 1UL << 32 },
		{ PR_UNWIND_ASSIST_OFF, 0, 0, 1 },
		{ PR_UNWIND_ASSIST_OFF, 0, 0, 1UL << 32 },
	};
	const struct sfa_counts before = sfa_counts();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		EXPECT_EQ(-EINVAL, raw_prctl(calls[i].op, calls[i].arg3,
					     calls[i].arg4, calls[i].arg5))
			TH_LOG("call %u", i);
	EXPECT_TRUE(sfa_counted(&before, ""));
	EXPECT_EQ(SFA_SIGNAL, sfa_count(&before, "signal"));
	EXPECT_TRUE(sfa_is_marks(SAMPLE()));
}

/* Only on x86 can a 64-bit program make 32-bit system calls. */
#ifdef __x86_64__
/* Result of int $0x80, or -EPROTO if the kernel does not support it. */
static int compat_on(int signal)
{
	const pid_t pid = fork();
	long ret = 172;		/* prctl of i386 */
	int status;

	if (!pid) {
		asm volatile("int $0x80"
			     : "+a"(ret)
			     : "b"(PR_UNWIND_ASSIST),
			       "c"((int)PR_UNWIND_ASSIST_ON), "d"(signal),
			       "S"(0), "D"(0)
			     : "memory", "r8", "r9", "r10", "r11");
		_exit(-(__s32)ret);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -EPROTO;
	return -WEXITSTATUS(status);
}

/* Guards against: ON in a 32-bit call, whose siginfo would cut the token. */
TEST_F(answer, compat_system_calls_are_refused)
{
	const int ret = compat_on(OTHER_SIGNAL);

	if (ret == -EPROTO)
		SKIP(return, "kernel without CONFIG_IA32_EMULATION");
	EXPECT_EQ(-EOPNOTSUPP, ret);
	/* Wrong arguments are refused first. */
	EXPECT_EQ(-EINVAL, compat_on(SIGUSR1));
}
#endif

/* Guards against: wrong bounds of the real-time signals. */
TEST_F(answer, every_real_time_signal)
{
	struct sfa_counts counts;
	int signal;

	for (signal = SFA_FIRST_SIGNAL; signal <= SFA_LAST_SIGNAL; signal++) {
		ASSERT_EQ(0, sfa_on(signal, 0));
		counts = sfa_counts();
		EXPECT_EQ(signal, sfa_count(&counts, "signal"));
	}
	for (signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
		ASSERT_EQ(0, sfa_handle(signal, SA_ONSTACK));
		ASSERT_EQ(0, sfa_on(signal, 0));
		EXPECT_TRUE(sfa_is_marks(SAMPLE()));
		EXPECT_EQ(signal, sfa_me.info.si_signo);
	}
}

/* Guards against: OFF that has no effect, or ON that fails after OFF. */
TEST_F(answer, off_and_on)
{
	struct sfa_counts counts;
	__u64 frame;
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(sfa_is_marks(SAMPLE()));
		EXPECT_EQ(0, sfa_off());
		EXPECT_EQ(0, sfa_off());
		counts = sfa_counts();
		EXPECT_EQ(0, sfa_count(&counts, "signal"));
		EXPECT_EQ(-EINVAL, sfa_read(sfa_me.token, &frame, 1));
		EXPECT_EQ(-EINVAL, sfa_answer(sfa_me.token, &frame, 1));
		EXPECT_EQ(-EINVAL, sfa_answer(sfa_me.token, NULL, 0));

		EXPECT_TRUE(sfa_is_walk(SAMPLE()));
		EXPECT_TRUE(sfa_counted(&counts, ""));
		EXPECT_EQ(i + 1, sfa_me.handled);
		EXPECT_EQ(0, sfa_on(SFA_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	}
}

static void *never_on(void *arg)
{
	struct __test_metadata *_metadata = arg;
	__u64 frame = 0;

	sfa_off();
	EXPECT_EQ(-EINVAL, sfa_read(0, &frame, 1));
	EXPECT_EQ(-EINVAL, sfa_answer(0, &frame, 1));
	EXPECT_EQ(-EINVAL, sfa_answer(0, NULL, 0));
	return NULL;
}

/* Guards against: a NULL dereference if the thread never opted in. */
TEST_F(answer, thread_that_never_opted_in)
{
	pthread_t thread;

	ASSERT_EQ(0, sfa_off());
	ASSERT_EQ(0, pthread_create(&thread, NULL, never_on, _metadata));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* Guards against: READ or ANSWER accepted while no question is open. */
TEST_F(answer, no_question)
{
	static const __u64 tokens[] = { 0, 1, -1ULL, 1ULL << 63 };
	const struct sfa_counts before = sfa_counts();
	unsigned int i;
	__u64 frame = 0;

	for (i = 0; i < ARRAY_SIZE(tokens); i++) {
		EXPECT_EQ(-ESRCH, sfa_read(tokens[i], &frame, 1));
		EXPECT_EQ(-ESRCH, sfa_answer(tokens[i], &frame, 1));
		EXPECT_EQ(-ESRCH, sfa_answer(tokens[i], NULL, 0));
		EXPECT_EQ(-ESRCH, sfa_answer(tokens[i], NULL, -1UL));
	}
	EXPECT_TRUE(sfa_counted(&before, ""));
}

/* Guards against: a world-readable file, or renamed or reordered lines. */
TEST_F(answer, file)
{
	static const char *const names[] = {
		"signal", "asked", "answered", "native", "late", "settled",
		"busy", "exiting", "handler", "blocked", "stack", "queue",
		"traced", "seccomp", "dispatch", "restart", "pending",
	};
	const struct sfa_counts counts = sfa_counts();
	struct stat stat_buf;
	unsigned int i;

	ASSERT_EQ(ARRAY_SIZE(names), counts.nr);
	for (i = 0; i < counts.nr; i++) {
		EXPECT_STREQ(names[i], counts.counts[i].name);
		EXPECT_EQ(i ? 0 : SFA_SIGNAL, counts.counts[i].nr);
	}
	ASSERT_EQ(0, stat("/proc/self/unwind_assist", &stat_buf));
	EXPECT_EQ(S_IFREG | 0400, stat_buf.st_mode);
	ASSERT_EQ(0, stat("/proc/thread-self/unwind_assist", &stat_buf));
	EXPECT_EQ(S_IFREG | 0400, stat_buf.st_mode);
}

/* ---- The signal ------------------------------------------------------ */

/* Guards against: a signal at another address, or one like sigqueue()'s. */
TEST_F(answer, signal)
{
	__u64 token;
	int i;

	for (i = 0; i < 3; i++) {
		token = sfa_me.token;
		EXPECT_TRUE(sfa_is_marks(SAMPLE()));
		EXPECT_EQ(SFA_SIGNAL, sfa_me.info.si_signo);
		EXPECT_EQ(SI_KERNEL, sfa_me.info.si_code);
		EXPECT_EQ(0, sfa_me.info.si_errno);
		EXPECT_EQ((uintptr_t)sft_touch_load, sfa_me.pc);
		EXPECT_NE(token, sfa_me.token);
	}
}

/* ---- READ ------------------------------------------------------------ */

#define UNTOUCHED	0xa5a5a5a5a5a5a5a5ULL

static void check_read(struct __test_metadata *_metadata, __u64 token,
		       unsigned long asked)
{
	static const __u64 walk[] = {
		(uintptr_t)sft_touch_load, (uintptr_t)sft_inner_ret,
		(uintptr_t)sft_outer_ret, (uintptr_t)sft_enter_ret,
	};
	__u64 frames[SFA_MAX_FRAMES];
	unsigned int i;

	memset(frames, 0xa5, sizeof(frames));
	EXPECT_EQ(ARRAY_SIZE(walk), sfa_read(token, frames, asked));
	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		__u64 frame = i < asked && i < ARRAY_SIZE(walk) ? walk[i] :
								 UNTOUCHED;

		EXPECT_EQ(frame, frames[i])
			TH_LOG("frame %u of %lu", i, asked);
	}
}

static void read_all_ways(struct sfa_thread *me)
{
	static const unsigned long asked[] = {
		0, 1, 2, 3, 4, 5, 509, 510, 511, 1UL << 31, 1UL << 32,
		1UL << 61, (1UL << 61) + 1, 1UL << 63, ULONG_MAX,
	};
	struct __test_metadata *_metadata = me->data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		check_read(_metadata, me->token, asked[i]);
	/* With nr 0, the buffer is not used. */
	EXPECT_EQ(4, sfa_read(me->token, NULL, 0));
	EXPECT_EQ(4, sfa_read(me->token, (void *)-8L, 0));
	sfa_say_frames(me);
}

/* Guards against: READ that writes past nr, or past the end of the walk. */
TEST_F(answer, read)
{
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(read_all_ways)));
}

/* ---- ANSWER ---------------------------------------------------------- */

static __u64 many[SFA_MAX_FRAMES + 2];

static void fill(__u64 *frames, unsigned int nr, __u64 first)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		frames[i] = first + 16 * i;
}

/* Guards against: lost frames, or stale ones from the previous answer. */
TEST_F(answer, frames)
{
	static const unsigned int sizes[] = {
		1, 2, 510, 3, 1, 509, 510, 126, 127, 128, 255, 256, 257, 4,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct sfa_record *record;

		fill(many, ARRAY_SIZE(many), 0x10000 * (i + 1));
		sfa_me.frames = many;
		sfa_me.nr = sizes[i];
		record = SAMPLE_WITH(sfa_say_frames);
		EXPECT_TRUE(sfa_is_answer(record, many, sizes[i]));
	}
}

static void *const anywhere[] = {
	NULL, (void *)8, (void *)-8L, (void *)(1UL << 63), &many,
};

static unsigned int anywhere_nr;

static void say_nothing(struct sfa_thread *me)
{
	me->ret = sfa_answer(me->token, anywhere[anywhere_nr], 0);
}

/* Guards against: an empty answer reported as empty stack, or as assisted. */
TEST_F(answer, no_frames_are_the_walk_of_the_kernel)
{
	const struct sfa_counts before = sfa_counts();

	sfa_me.answer = say_nothing;
	for (; anywhere_nr < ARRAY_SIZE(anywhere); anywhere_nr++) {
		EXPECT_TRUE(sfa_is_walk(SAMPLE()));
		EXPECT_EQ(0, sfa_me.ret);
		EXPECT_EQ(anywhere_nr + 1, sfa_me.handled);
	}
	EXPECT_TRUE(sfa_counted(&before, "asked=5 native=5"));
}

/* The length must be checked first. */
static void say_too_much(struct sfa_thread *me)
{
	static const unsigned long sizes[] = {
		511, 512, 4096, INT_MAX, 1UL << 31, UINT_MAX, 1UL << 32,
		(1UL << 32) + 3, 1UL << 60, 1UL << 61, (1UL << 61) + 3,
		1UL << 63, (1UL << 63) + 3, ULONG_MAX,
	};
	struct __test_metadata *_metadata = me->data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(-E2BIG, sfa_answer(me->token, many, sizes[i]));
		EXPECT_EQ(-E2BIG, sfa_answer(me->token, NULL, sizes[i]));
	}
	EXPECT_EQ(4, sfa_read(me->token, NULL, 0));
	sfa_say_frames(me);
}

/* Guards against: overflow of the size, or an error that ends the question. */
TEST_F(answer, too_many_frames)
{
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(say_too_much)));
}

/* ---- Memory that is not there ---------------------------------------- */

/* Four pages: no access, read-write, read-only, no access. */
static __u8 *pages;

static int make_pages(void)
{
	pages = sft_map(4 * SFT_PAGE, SFT_RW);
	if (!pages)
		return -ENOMEM;
	memset(pages, 0x11, 4 * SFT_PAGE);
	/* Valid frames. */
	fill((__u64 *)pages, 4 * SFT_PAGE / sizeof(__u64), 0x1000);
	if (mprotect(pages, SFT_PAGE, PROT_NONE) ||
	    mprotect(pages + 2 * SFT_PAGE, SFT_PAGE, PROT_READ) ||
	    mprotect(pages + 3 * SFT_PAGE, SFT_PAGE, PROT_NONE))
		return -errno;
	return 0;
}

static void answer_at_the_edges(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	const __u8 *start = pages + SFT_PAGE, *end = pages + 3 * SFT_PAGE;
	unsigned int i;

	for (i = 0; i < 3 * sizeof(__u64); i++)
		EXPECT_EQ(-EFAULT, sfa_answer(me->token, end - i, 3))
			TH_LOG("%u bytes in front of the end", i);
	for (i = 1; i <= 3 * sizeof(__u64); i++)
		EXPECT_EQ(-EFAULT, sfa_answer(me->token, start - i, 3))
			TH_LOG("%u bytes in front of the start", i);
	for (i = 0; i < ARRAY_SIZE(anywhere) - 1; i++) {
		EXPECT_EQ(-EFAULT, sfa_answer(me->token, anywhere[i], 1));
		EXPECT_EQ(-EFAULT, sfa_answer(me->token, anywhere[i], 510));
	}
	EXPECT_EQ(-EFAULT, sfa_answer(me->token, end - 509 * sizeof(__u64),
				      510));
	EXPECT_EQ(4, sfa_read(me->token, NULL, 0));

	me->frames = (const __u64 *)end - 3;
	sfa_say_frames(me);
}

/* Guards against: a partial copy from user space taken as the answer. */
TEST_F(answer, answer_that_cannot_be_read)
{
	ASSERT_EQ(0, make_pages());
	EXPECT_TRUE(sfa_is_answer(SAMPLE_WITH(answer_at_the_edges),
				  (__u64 *)(pages + 3 * SFT_PAGE) - 3, 3));
}

static void read_at_the_edges(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	__u8 *start = pages + SFT_PAGE, *end = pages + 2 * SFT_PAGE;
	unsigned int i;

	/* The walk has four frames. */
	for (i = 0; i < 4 * sizeof(__u64); i++)
		EXPECT_EQ(-EFAULT, sfa_read(me->token, end - i, 510))
			TH_LOG("%u bytes in front of the end", i);
	for (i = 1; i <= 4 * sizeof(__u64); i++)
		EXPECT_EQ(-EFAULT, sfa_read(me->token, start - i, 4))
			TH_LOG("%u bytes in front of the start", i);
	for (i = 0; i < ARRAY_SIZE(anywhere) - 1; i++)
		EXPECT_EQ(-EFAULT, sfa_read(me->token, anywhere[i], 1));
	/* A read-only page, then buffers that just fit. */
	EXPECT_EQ(-EFAULT, sfa_read(me->token, end, 1));
	EXPECT_EQ(4, sfa_read(me->token, end - 4 * sizeof(__u64), 510));
	EXPECT_EQ(4, sfa_read(me->token, end - sizeof(__u64), 1));
	sfa_say_frames(me);
}

/* Guards against: READ that writes to a read-only page. */
TEST_F(answer, read_that_cannot_be_written)
{
	__u64 frame;

	ASSERT_EQ(0, make_pages());
	memcpy(&frame, pages + 2 * SFT_PAGE, sizeof(frame));
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(read_at_the_edges)));
	EXPECT_EQ(frame, *(__u64 *)(pages + 2 * SFT_PAGE));
}

static void use_odd_addresses(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	__u8 *frames = pages + SFT_PAGE + 3;
	__u64 first;

	EXPECT_EQ(4, sfa_read(me->token, frames, 4));
	memcpy(&first, frames, sizeof(first));
	EXPECT_EQ((uintptr_t)sft_touch_load, first);
	memcpy(frames, sfa_marks, sizeof(sfa_marks));
	me->ret = sfa_answer(me->token, frames, ARRAY_SIZE(sfa_marks));
}

/* Guards against: an undocumented alignment requirement. */
TEST_F(answer, odd_addresses)
{
	ASSERT_EQ(0, make_pages());
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(use_odd_addresses)));
}

/* ---- Addresses ------------------------------------------------------- */

/* Not in user space: context markers, kernel and invalid addresses. */
static const __u64 outside[] = {
	PERF_CONTEXT_HV, PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER,
	PERF_CONTEXT_USER_DEFERRED, PERF_CONTEXT_GUEST,
	PERF_CONTEXT_GUEST_KERNEL, PERF_CONTEXT_GUEST_USER, PERF_CONTEXT_MAX,
	(__u64)PERF_CONTEXT_MAX - 1, (__u64)PERF_CONTEXT_MAX + 1, -1ULL,
	-8ULL, -4096ULL, SFT_USER_END_LARGE, SFT_USER_END_LARGE + 1,
	/* User addresses on s390, which skips them. */
	1ULL << 63, (1ULL << 63) - 1, 0xffff800000000000ULL,
	0xffffffff81000000ULL, 0xffff000000000000ULL, 0xffffffffff600000ULL,
};

static void check_outside(struct __test_metadata *_metadata, __u64 token,
			  __u64 frame)
{
	static const unsigned int places[] = { 0, 1, 254, 508, 509 };
	unsigned int i;

	EXPECT_EQ(-ERANGE, sfa_answer(token, &frame, 1))
		TH_LOG("frame %llx", frame);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		fill(many, ARRAY_SIZE(many), 0x1000);
		many[places[i]] = frame;
		EXPECT_EQ(-ERANGE, sfa_answer(token, many, 510))
			TH_LOG("frame %u is %llx", places[i], frame);
	}
	EXPECT_EQ(4, sfa_read(token, NULL, 0));
}

static void say_outside(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(outside); i++)
		if (outside[i] >= SFT_USER_END_LARGE)
			check_outside(_metadata, me->token, outside[i]);
#ifndef SFT_USER_END_UNKNOWN
	check_outside(_metadata, me->token, sft_user_end());
#endif
	fill(many, ARRAY_SIZE(many), 0x1000);
	/* The kernel must not read past nr. */
	many[510] = -1ULL;
	sfa_say_frames(me);
}

/* Guards against: context markers or kernel addresses in an answer. */
TEST_F(answer, addresses_outside_of_user_space)
{
	sfa_me.frames = many;
	sfa_me.nr = 510;
	EXPECT_TRUE(sfa_is_answer(SAMPLE_WITH(say_outside), many, 510));
}

/* Guards against: refusal of valid user addresses. */
TEST_F(answer, addresses_at_the_ends_of_user_space)
{
	const __u64 frames[] = {
		0, 1, SFT_PAGE, SFT_USER_END_SMALL - 1, SFT_USER_END_SMALL - 8,
		sft_user_end() - 1, sft_user_end() - SFT_PAGE, 0,
	};

	sfa_me.frames = frames;
	sfa_me.nr = ARRAY_SIZE(frames);
	EXPECT_TRUE(sfa_is_answer(SAMPLE_WITH(sfa_say_frames), frames,
				  ARRAY_SIZE(frames)));
}

/* ---- Tokens ---------------------------------------------------------- */

static void say_twice(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	__u64 frame;

	sfa_say_frames(me);
	EXPECT_EQ(-ESRCH, sfa_answer(me->token, many, 1));
	EXPECT_EQ(-ESRCH, sfa_answer(me->token, NULL, 0));
	EXPECT_EQ(-ESRCH, sfa_read(me->token, &frame, 1));
}

/* Guards against: two stacks for one cookie. */
TEST_F(answer, twice)
{
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(say_twice)));
		EXPECT_EQ(-ESRCH, sfa_answer(sfa_me.token, many, 1));
	}
}

/* Tokens other than that of the open question. */
static void say_forged(struct sfa_thread *me)
{
	static __u64 last_token;
	const __u64 forged[] = {
		last_token, me->token + 1, me->token - 1, ~me->token, 0,
		me->token ^ 1ULL << 63, me->token ^ 1ULL << 32,
		(__u32)me->token, me->token << 32,
	};
	struct __test_metadata *_metadata = me->data;
	unsigned int i;
	__u64 frame;

	for (i = 0; i < ARRAY_SIZE(forged); i++) {
		/* Tokens start at random: one may match. */
		if (forged[i] == me->token)
			continue;
		EXPECT_EQ(-ESRCH, sfa_read(forged[i], &frame, 1));
		EXPECT_EQ(-ESRCH, sfa_answer(forged[i], many, 1));
		EXPECT_EQ(-ESRCH, sfa_answer(forged[i], NULL, 0));
		EXPECT_EQ(-ESRCH, sfa_answer(forged[i], many, 511));
	}
	last_token = me->token;
	sfa_say_frames(me);
}

/* Guards against: accepting a guessed token, or the previous one. */
TEST_F(answer, forged_tokens)
{
	int i;

	for (i = 0; i < 3; i++)
		EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(say_forged)));
}

/**
 * struct peer - another thread whose question is open
 * @open:	posted when the question is open
 * @tried:	posted when another thread has tried its token
 * @token:	the token
 * @log:	records of the thread
 * @metadata:	metadata of the test
 */
static struct {
	sem_t			open, tried;
	__u64			token;
	struct sfa_log		log;
	struct __test_metadata	*metadata;
} peer;

static const __u64 peer_frames[] = { 0x9990, 0x8880 };

static void peer_says(struct sfa_thread *me)
{
	peer.token = me->token;
	sem_post(&peer.open);
	sem_wait(&peer.tried);
	sfa_say_frames(me);
}

static void *run_peer(void *arg)
{
	struct __test_metadata *_metadata = peer.metadata;
	struct sfa_session perf = { .log = &peer.log };

	EXPECT_EQ(0, sfa_begin());
	EXPECT_EQ(0, sfa_event_open(&perf.event));
	sfa_me.answer = peer_says;
	sfa_me.frames = peer_frames;
	sfa_me.nr = ARRAY_SIZE(peer_frames);
	EXPECT_TRUE(sfa_is_answer(sfa_sample(&perf), peer_frames,
				  ARRAY_SIZE(peer_frames)));
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_TRUE(sfa_log_right(&peer.log));
	sft_event_close(&perf.event);
	return NULL;
}

static void say_of_peer(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	__u64 frame;

	EXPECT_NE(me->token, peer.token);
	EXPECT_EQ(-ESRCH, sfa_read(peer.token, &frame, 1));
	EXPECT_EQ(-ESRCH, sfa_answer(peer.token, many, 1));
	EXPECT_EQ(-ESRCH, sfa_answer(peer.token, NULL, 0));
	sfa_say_frames(me);
}

/* Guards against: a thread that answers another thread's question. */
TEST_F(answer, token_of_another_thread)
{
	pthread_t thread;
	__u64 frame;

	peer.metadata = _metadata;
	ASSERT_EQ(0, sem_init(&peer.open, 0, 0));
	ASSERT_EQ(0, sem_init(&peer.tried, 0, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, run_peer, NULL));
	ASSERT_EQ(0, sem_wait(&peer.open));

	/* First with no question open in this thread, then with one. */
	EXPECT_EQ(-ESRCH, sfa_read(peer.token, &frame, 1));
	EXPECT_EQ(-ESRCH, sfa_answer(peer.token, many, 1));
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(say_of_peer)));
	ASSERT_EQ(0, sem_post(&peer.tried));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* ---- Time ------------------------------------------------------------ */

static void say_late(struct sfa_thread *me)
{
	sfa_wait_ms(SFA_LATE_MS);
	sfa_say_frames(me);
}

/* Guards against: a late answer dropped although no sample came since. */
TEST_F(answer, late_without_another_sample)
{
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(say_late)));
}

static void say_after_giving_up(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;
	__u64 frame;

	sfa_wait_ms(SFA_LATE_MS);
	EXPECT_EQ(4, sfa_read(me->token, NULL, 0));
	sfa_touch();
	EXPECT_EQ(-ESRCH, sfa_read(me->token, &frame, 1));
	EXPECT_EQ(-ESRCH, sfa_answer(me->token, NULL, 0));
	sfa_say_frames(me);
}

/* Guards against: stacks withheld for ever if the program hangs. */
TEST_F(answer, late_after_another_sample)
{
	const struct sfa_counts before = sfa_counts();
	const struct sfa_record *first, *stack;

	sfa_me.answer = say_after_giving_up;
	sfa_enable(&self->perf.event);
	sfa_touch();
	sfa_disable(&self->perf.event);
	EXPECT_EQ(-ESRCH, sfa_me.ret);
	EXPECT_EQ(1, sfa_me.handled);

	ASSERT_EQ(0, sfa_session_read(&self->perf));
	ASSERT_EQ(3, self->perf.log->nr);
	first = sfa_next(self->perf.log);
	EXPECT_NE(0, first->cookie);
	/* The sample in the handler gets its stack at once. */
	EXPECT_TRUE(sfa_is_direct(sfa_next(self->perf.log)));
	stack = sfa_next(self->perf.log);
	EXPECT_TRUE(sfa_is_walk(stack));
	EXPECT_EQ(first->cookie, stack->cookie);
	EXPECT_TRUE(sfa_counted(&before, "asked busy late"));

	/* The thread is asked again. */
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(sfa_say_frames)));
}

static __u64 touched_after;

static void say_after_touching(struct sfa_thread *me)
{
	sfa_touch();
	touched_after = sfa_now_ms();
	sfa_say_frames(me);
}

/* Guards against: giving up at the next sample although there is time. */
TEST_F(answer, another_sample_soon)
{
	struct sfa_log *log = self->perf.log;
	const struct sfa_record *record;
	__u64 before;

	sfa_me.answer = say_after_touching;
	do {
		/* Start over if another task took the time. */
		log->nr = 0;
		log->nr_words = 0;
		sfa_enable(&self->perf.event);
		before = sfa_now_ms();
		sfa_touch();
		sfa_disable(&self->perf.event);
		ASSERT_EQ(0, sfa_session_read(&self->perf));
	} while (touched_after - before >= 9);
	ASSERT_EQ(3, log->nr);
	EXPECT_NE(0, sfa_next(log)->cookie);
	EXPECT_TRUE(sfa_is_direct(sfa_next(log)));
	record = sfa_next(log);
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_TRUE(sfa_is_marks(record));
}

/* ---- The record ------------------------------------------------------ */

/* Guards against: a separate cookie or stack for each event. */
TEST_F(answer, two_samples_with_a_cookie)
{
	const struct sfa_counts before = sfa_counts();
	const struct sfa_record *samples[2];
	struct perf_event_attr attr;
	int second;

	sfa_attr_init(&attr);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attr.defer_output = 0;
	attr.disabled = 0;
	second = sfa_event_beside(&self->perf.event, &attr);
	ASSERT_LE(0, second);
	sfa_enable(&self->perf.event);
	sfa_touch();
	sfa_disable(&self->perf.event);
	close(second);

	ASSERT_EQ(0, sfa_session_read(&self->perf));
	ASSERT_EQ(3, self->perf.log->nr);
	samples[0] = sfa_next(self->perf.log);
	samples[1] = sfa_next(self->perf.log);
	EXPECT_NE(0, samples[0]->cookie);
	EXPECT_EQ(samples[0]->cookie, samples[1]->cookie);
	EXPECT_TRUE(sfa_is_marks(sfa_next(self->perf.log)));
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_TRUE(sfa_counted(&before, "asked answered"));
}

static bool has_restarted(const struct sfa_counts *before)
{
	const struct sfa_counts now = sfa_counts();

	return sfa_count(&now, "restart") != sfa_count(before, "restart");
}

/* Guards against: reusing the state of earlier answers. */
TEST_F(answer, many_questions)
{
	const struct sfa_record *record;
	struct sfa_counts before;
	unsigned int i, nr;

	for (i = 0; i < 400; i++) {
		nr = i * 7 % 200;
		fill(many, nr, 0x1000 + i);
		sfa_me.frames = many;
		sfa_me.nr = nr;
		/* If preempted meanwhile, the thread may not be asked. */
		do {
			before = sfa_counts();
			record = SAMPLE();
		} while (has_restarted(&before));
		ASSERT_TRUE(nr ? sfa_is_answer(record, many, nr) :
				 sfa_is_walk(record));
		ASSERT_EQ(0, sfa_me.ret);
	}
	EXPECT_EQ(400, sfa_me.handled);
}

/* ---- ON while a question is open ------------------------------------- */

static void on_again(struct sfa_thread *me)
{
	struct __test_metadata *_metadata = me->data;

	EXPECT_EQ(-EINVAL, sfa_on(SIGUSR1, 0));
	EXPECT_EQ(0, sfa_on(OTHER_SIGNAL, UNWIND_ASSIST_ANY_STACK));
	EXPECT_EQ(4, sfa_read(me->token, NULL, 0));
	sfa_say_frames(me);
}

/* Guards against: ON that loses the open question, or signals it again. */
TEST_F(answer, on_while_a_question_is_open)
{
	struct sfa_counts counts;

	ASSERT_EQ(0, sfa_handle(OTHER_SIGNAL, SA_ONSTACK));
	sfa_me.answer = on_again;
	EXPECT_TRUE(sfa_is_marks(SAMPLE()));
	EXPECT_EQ(0, sfa_me.ret);
	EXPECT_EQ(1, sfa_me.handled);
	EXPECT_EQ(SFA_SIGNAL, sfa_me.info.si_signo);
	counts = sfa_counts();
	EXPECT_EQ(OTHER_SIGNAL, sfa_count(&counts, "signal"));
	EXPECT_EQ(1, sfa_count(&counts, "asked"));
	EXPECT_TRUE(sfa_is_marks(SAMPLE_WITH(sfa_say_frames)));
	EXPECT_EQ(OTHER_SIGNAL, sfa_me.info.si_signo);
}

TEST_HARNESS_MAIN
