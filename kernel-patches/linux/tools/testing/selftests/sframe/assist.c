// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A thread that answers questions for its stack, and the records that perf
 * writes about it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "assist_test.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED	24
#endif

/* A sample in a handler uses the next part of the stack. */
#define PART_SIZE	(16 * SFT_PAGE)
#define NR_PARTS	8
/* Room above the first frame, where a wrong step may read. */
#define PART_TOP	(PART_SIZE - 1024)
#define STACK_SIZE	(NR_PARTS * PART_SIZE)

__thread struct sfa_thread sfa_me;

/* The alternate stack. */
static __thread __u8 *other_stack;

const __u64 sfa_marks[SFA_NR_MARKS] = { 0x1230, 0x4560, 0x7890 };

static int assist(unsigned long op, unsigned long arg3, unsigned long arg4,
		  unsigned long arg5)
{
	int ret = prctl(PR_UNWIND_ASSIST, op, arg3, arg4, arg5);

	return ret < 0 ? -errno : ret;
}

int sfa_on(unsigned long signal, unsigned long flags)
{
	return assist(PR_UNWIND_ASSIST_ON, signal, flags, 0);
}

int sfa_off(void)
{
	return assist(PR_UNWIND_ASSIST_OFF, 0, 0, 0);
}

int sfa_read(__u64 token, void *frames, unsigned long nr)
{
	return assist(PR_UNWIND_ASSIST_READ, token, (uintptr_t)frames, nr);
}

int sfa_answer(__u64 token, const void *frames, unsigned long nr)
{
	return assist(PR_UNWIND_ASSIST_ANSWER, token, (uintptr_t)frames, nr);
}

const char *sfa_missing(void)
{
	if (sfa_on(SFA_SIGNAL, 0))
		return "kernel without CONFIG_UNWIND_ASSIST";
	sfa_off();
	return NULL;
}

/* ---- /proc/PID/task/TID/unwind_assist -------------------------------- */

int sfa_counts_of(pid_t pid, pid_t tid, struct sfa_counts *counts)
{
	struct sfa_count *count = counts->counts;
	char path[64], line[64];
	FILE *file;
	int ret = 0;

	counts->nr = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/unwind_assist", pid,
		 tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!ret && fgets(line, sizeof(line), file)) {
		if (counts->nr < SFA_MAX_COUNTS &&
		    sscanf(line, "%15s %lld", count[counts->nr].name,
			   &count[counts->nr].nr) == 2)
			counts->nr++;
		else
			ret = -EPROTO;
	}
	fclose(file);
	return ret;
}

struct sfa_counts sfa_counts(void)
{
	struct sfa_counts counts;

	if (sfa_counts_of(getpid(), gettid(), &counts))
		counts.nr = 0;
	return counts;
}

long long sfa_count(const struct sfa_counts *counts, const char *name)
{
	unsigned int i;

	for (i = 0; i < counts->nr; i++)
		if (!strcmp(counts->counts[i].name, name))
			return counts->counts[i].nr;
	return -1;
}

/* Expected increment of @name. If @names has it, adds 1 to @found. */
static long long wanted(const char *names, const char *name,
			unsigned int *found)
{
	const size_t len = strlen(name);

	while (*names) {
		const size_t size = strcspn(names, " =");
		const bool same = size == len && !memcmp(names, name, len);

		names += size;
		if (same) {
			++*found;
			return *names == '=' ? atoll(names + 1) : 1;
		}
		names += strcspn(names, " ");
		names += strspn(names, " ");
	}
	return 0;
}

static unsigned int nr_names(const char *names)
{
	unsigned int nr = 0;

	while (*names) {
		nr++;
		names += strcspn(names, " ");
		names += strspn(names, " ");
	}
	return nr;
}

bool sfa_counted_between(const struct sfa_counts *before,
			 const struct sfa_counts *after, const char *names)
{
	unsigned int found = 0, i;
	bool right = after->nr && after->nr == before->nr;

	for (i = 0; i < after->nr; i++) {
		const struct sfa_count *count = &after->counts[i];

		if (count->nr - sfa_count(before, count->name) !=
		    wanted(names, count->name, &found))
			right = false;
	}
	if (right && found == nr_names(names))
		return true;

	fprintf(stderr, "# counted, instead of \"%s\":", names);
	for (i = 0; i < after->nr; i++)
		fprintf(stderr, " %s %lld", after->counts[i].name,
			after->counts[i].nr -
			sfa_count(before, after->counts[i].name));
	fprintf(stderr, "\n");
	return false;
}

bool sfa_counted(const struct sfa_counts *before, const char *names)
{
	const struct sfa_counts now = sfa_counts();

	return sfa_counted_between(before, &now, names);
}

bool sfa_balanced(void)
{
	const struct sfa_counts now = sfa_counts();

	return now.nr && sfa_count(&now, "asked") ==
			 sfa_count(&now, "answered") +
			 sfa_count(&now, "native") + sfa_count(&now, "late") +
			 sfa_count(&now, "settled");
}

/* ---- A thread that is asked ------------------------------------------ */

static void handler(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const int error = errno;

	sfa_me.handled++;
	sfa_me.info = *info;
	sfa_me.token = (uintptr_t)info->si_value.sival_ptr;
	sfa_me.pc = SFT_UC_PC(uc);
	if (sfa_me.answer)
		sfa_me.answer(&sfa_me);
	errno = error;
}

void sfa_say_frames(struct sfa_thread *me)
{
	me->ret = sfa_answer(me->token, me->frames, me->nr);
}

void sfa_say_native(struct sfa_thread *me)
{
	me->ret = sfa_answer(me->token, NULL, 0);
}

int sfa_handle(int signal, int flags)
{
	struct sigaction action = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | flags,
	};

	return sigaction(signal, &action, NULL) ? -errno : 0;
}

int sfa_set_stack(int flags)
{
	const stack_t stack = {
		.ss_sp = other_stack, .ss_size = PART_SIZE, .ss_flags = flags,
	};

	return sigaltstack(&stack, NULL) ? -errno : 0;
}

bool sfa_on_stack(void)
{
	const __u8 *here = __builtin_frame_address(0);

	return here > other_stack && here <= other_stack + PART_SIZE;
}

/* First calls may page-fault: make them before events count faults. */
static int bring_in(void)
{
	sfa_wait_ms(0);
	if (mlockall(MCL_CURRENT))
		return -errno;
	sfa_touch();
	return 0;
}

int sfa_prepare(void)
{
	struct sfa_thread *me = &sfa_me;

	me->answer = sfa_say_frames;
	me->frames = sfa_marks;
	me->nr = SFA_NR_MARKS;
	if (!me->page)
		me->page = sft_map(SFT_PAGE, SFT_RW);
	if (!me->stack)
		me->stack = sft_map(STACK_SIZE, SFT_RW);
	if (!other_stack)
		other_stack = sft_map(PART_SIZE, SFT_RW);
	if (!me->page || !me->stack || !other_stack)
		return -ENOMEM;
	return sfa_set_stack(0) ?: sfa_handle(SFA_SIGNAL, SA_ONSTACK) ?:
	       bring_in();
}

/*
 * arm64 has no separate thread flag for restartable sequences: a thread that is
 * preempted on return to user space seems to have other work and is not asked.
 * Nothing in the guest preempts real-time threads. Children inherit the policy.
 */
static int keep_cpu(void)
{
#ifdef __aarch64__
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return -errno;
#endif
	return 0;
}

int sfa_begin(void)
{
	return keep_cpu() ?: sfa_prepare() ?: sfa_on(SFA_SIGNAL, 0);
}

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

__u64 sfa_now_ms(void)
{
	return now_ns() / 1000000;
}

void sfa_wait_ms(unsigned int ms)
{
	const __u64 until = now_ns() + ms * 1000000ULL;
	const struct timespec end = {
		.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000,
	};

	do {
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	} while (now_ns() < until);
}

/* ---- Samples --------------------------------------------------------- */

void sfa_attr_init(struct perf_event_attr *attr)
{
	sft_attr_init(attr, PERF_TYPE_SOFTWARE, true);
	attr->config = PERF_COUNT_SW_PAGE_FAULTS;
	attr->sample_type |= PERF_SAMPLE_TID;
	attr->sample_id_all = 1;
	attr->exclude_kernel = 1;
}

void sfa_switches_init(struct perf_event_attr *attr)
{
	sfa_attr_init(attr);
	attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr->exclude_kernel = 0;
}

int sfa_event_open(struct sft_event *event)
{
	struct perf_event_attr attr;

	sfa_attr_init(&attr);
	return sft_event_open(event, &attr);
}

int sfa_event_beside(const struct sft_event *event,
		     struct perf_event_attr *attr)
{
	const int fd = syscall(__NR_perf_event_open, attr, 0, -1, event->fd,
			       PERF_FLAG_FD_CLOEXEC | PERF_FLAG_FD_OUTPUT |
			       PERF_FLAG_FD_NO_GROUP);

	return fd < 0 ? -errno : fd;
}

void sfa_enable(const struct sft_event *event)
{
	/* After fork(), copy pages before the event counts faults. */
	mlockall(MCL_CURRENT);
	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void sfa_disable(const struct sft_event *event)
{
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void touch_on(void *stack)
{
	const struct sft_call call = { sft_touch, sfa_me.page };

	madvise(sfa_me.page, SFT_PAGE, MADV_DONTNEED_LOCKED);
	sft_enter(stack, sft_outer, &call);
}

void sfa_touch(void)
{
	__u8 *part = sfa_me.stack + STACK_SIZE -
		     (sfa_me.depth + 1) * PART_SIZE;

	sfa_me.depth++;
	touch_on(part + PART_TOP);
	sfa_me.depth--;
}

void sfa_touch_there(void)
{
	touch_on(other_stack + PART_TOP);
}

void sfa_touch_here(void)
{
	/* An element has the alignment of a stack; its size does not matter. */
	max_align_t part[2048 / sizeof(max_align_t)];

	touch_on(part + 1024 / sizeof(max_align_t));
}

/* Copy the user part of a callchain. */
static int set_chain(struct sfa_log *log, struct sfa_record *record,
		     const __u64 *ip, __u64 nr)
{
	if (nr > SFA_MAX_WORDS - log->nr_words)
		return -ENOBUFS;
	record->chain.nr = nr;
	record->chain.ip = log->words + log->nr_words;
	memcpy(log->words + log->nr_words, ip, nr * sizeof(*ip));
	log->nr_words += nr;
	return 0;
}

static int set_sample(struct sfa_log *log, struct sfa_record *record,
		      const __u64 *raw)
{
	const __u64 *ip = &raw[3];
	const __u64 nr = raw[2];

	/* The PID comes first. */
	record->tid = ((const __u32 *)&raw[1])[1];
	if (nr == 2 && ip[0] == PERF_CONTEXT_USER_DEFERRED) {
		record->cookie = ip[1];
		return 0;
	}
	/* An exiting thread may have no callchain. */
	if (!nr)
		return 0;
	if (ip[0] != PERF_CONTEXT_USER)
		return -EPROTO;
	return set_chain(log, record, ip + 1, nr - 1);
}

static int add_record(struct sfa_log *log, const __u64 *raw)
{
	const struct perf_event_header *header = (const void *)raw;
	struct sfa_record *record = &log->records[log->nr];
	const __u32 *last;

	if (log->nr == SFA_MAX_RECORDS)
		return -ENOBUFS;
	log->nr++;
	memset(record, 0, sizeof(*record));
	record->type = header->type;
	record->misc = header->misc;
	if (header->type == PERF_RECORD_SAMPLE)
		return set_sample(log, record, raw);

	/* The record ends with PID and TID. */
	last = (const __u32 *)raw + header->size / sizeof(*last);
	record->tid = last[-1];
	if (header->type != PERF_RECORD_CALLCHAIN_DEFERRED)
		return 0;
	record->cookie = raw[1];
	return set_chain(log, record, &raw[3], raw[2]);
}

int sfa_log_read(struct sfa_log *log, struct sft_event *event)
{
	static __thread __u64 raw[SFT_MAX_CHAIN + 16];
	int ret;

	for (;;) {
		ret = sft_event_record(event, raw, sizeof(raw));
		if (ret <= 0)
			return ret;
		ret = add_record(log, raw);
		if (ret)
			return ret;
	}
}

int sfa_session_read(struct sfa_session *session)
{
	return sfa_log_read(session->log, &session->event);
}

static void print_record(const struct sfa_record *record)
{
	unsigned int i;

	fprintf(stderr, "#   type %u misc %x tid %d cookie %llx nr %u:",
		record->type, record->misc, record->tid, record->cookie,
		record->chain.nr);
	for (i = 0; i < record->chain.nr && i < 8; i++)
		fprintf(stderr, " %llx", record->chain.ip[i]);
	fprintf(stderr, "%s\n", i < record->chain.nr ? " ..." : "");
}

static void print_log(const struct sfa_log *log, unsigned int i,
		      const char *why)
{
	fprintf(stderr, "# %s:\n", why);
	for (; i < log->nr; i++)
		print_record(&log->records[i]);
}

/* Index of the next record of this type and cookie after @i, or log->nr. */
static unsigned int find(const struct sfa_log *log, unsigned int i, __u32 type,
			 __u64 cookie)
{
	while (++i < log->nr)
		if (log->records[i].type == type &&
		    log->records[i].cookie == cookie)
			break;
	return i;
}

/*
 * A sample in a system call may share a stack that was written earlier. If the
 * thread is exiting, its event may be gone before the stack is written.
 */
static bool needs_stack(const struct sfa_log *log, unsigned int i)
{
	const __u64 cookie = log->records[i].cookie;

	if (!log->again)
		return true;
	if (find(log, -1U, PERF_RECORD_CALLCHAIN_DEFERRED, cookie) < i)
		return false;
	while (++i < log->nr)
		if (log->records[i].cookie != cookie)
			return true;
	return false;
}

/* Say what is wrong with sample @i and its stack; NULL if nothing is. */
static const char *sample_wrong(const struct sfa_log *log, unsigned int i)
{
	const struct sfa_record *sample = &log->records[i];
	const unsigned int end = find(log, i, PERF_RECORD_CALLCHAIN_DEFERRED,
				      sample->cookie);

	if (end == log->nr)
		return needs_stack(log, i) ? "no stack for a cookie" : NULL;
	while (++i < end) {
		const struct sfa_record *record = &log->records[i];

		if (record->type == PERF_RECORD_SAMPLE && record->cookie &&
		    record->tid == sample->tid &&
		    record->cookie != sample->cookie)
			return "another cookie before the stack";
	}
	return NULL;
}

/* NULL if it is the only one for its cookie, and after its samples. */
static const char *stack_wrong(const struct sfa_log *log, unsigned int i)
{
	const __u64 cookie = log->records[i].cookie;

	if (!cookie)
		return "a stack without a cookie";
	if (find(log, i, PERF_RECORD_CALLCHAIN_DEFERRED, cookie) < log->nr)
		return "two stacks for a cookie";
	if (find(log, i, PERF_RECORD_SAMPLE, cookie) < log->nr &&
	    (!log->again ||
	     log->records[i].misc & PERF_RECORD_MISC_CALLCHAIN_ASSISTED))
		return "a sample after its stack";
	if (!log->others &&
	    find(log, -1U, PERF_RECORD_SAMPLE, cookie) == log->nr)
		return "a stack without a sample";
	return NULL;
}

static const char *record_wrong(const struct sfa_log *log, unsigned int i)
{
	const struct sfa_record *record = &log->records[i];

	switch (record->type) {
	case PERF_RECORD_LOST:
		return "records are lost";
	case PERF_RECORD_SAMPLE:
		return record->cookie ? sample_wrong(log, i) : NULL;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		return stack_wrong(log, i);
	default:
		return NULL;
	}
}

bool sfa_log_right(const struct sfa_log *log)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; i < log->nr && !why; i++)
		why = record_wrong(log, i);
	if (why)
		print_log(log, i > 8 ? i - 8 : 0, why);
	return !why;
}

const struct sfa_record *sfa_next(struct sfa_log *log)
{
	return log->next < log->nr ? &log->records[log->next++] : NULL;
}

const struct sfa_record *sfa_next_pair(struct sfa_session *session)
{
	struct sfa_log *log = session->log;
	const unsigned int first = log->next;
	const struct sfa_record *record = &log->records[first];
	const int ret = sfa_session_read(session);

	log->next = log->nr;
	if (!ret && log->nr - first == 2 &&
	    record[0].type == PERF_RECORD_SAMPLE && record[0].cookie &&
	    record[1].type == PERF_RECORD_CALLCHAIN_DEFERRED &&
	    record[1].cookie == record[0].cookie &&
	    record[1].tid == record[0].tid)
		return &record[1];
	print_log(log, first, "not a sample and its stack");
	return NULL;
}

const struct sfa_record *sfa_sample_at(struct sfa_session *session,
				       void (*touch)(void))
{
	sfa_enable(&session->event);
	touch();
	sfa_disable(&session->event);
	return sfa_next_pair(session);
}

const struct sfa_record *sfa_sample(struct sfa_session *session)
{
	return sfa_sample_at(session, sfa_touch);
}

bool sfa_is_answer(const struct sfa_record *record, const __u64 *frames,
		   unsigned int nr)
{
	if (record && record->type == PERF_RECORD_CALLCHAIN_DEFERRED &&
	    record->misc == (PERF_RECORD_MISC_USER |
			     PERF_RECORD_MISC_CALLCHAIN_ASSISTED) &&
	    record->chain.nr == nr &&
	    !memcmp(record->chain.ip, frames, nr * sizeof(*frames)))
		return true;
	fprintf(stderr, "# not the answer of %u frames:\n", nr);
	if (record)
		print_record(record);
	return false;
}

bool sfa_is_marks(const struct sfa_record *record)
{
	return sfa_is_answer(record, sfa_marks, SFA_NR_MARKS);
}

bool sfa_is_walk_at(const struct sfa_record *record, const void *addr)
{
	const __u64 ip[] = { (uintptr_t)addr, SFT_CALLERS };
	struct sft_chain chain;

	if (record && record->misc == PERF_RECORD_MISC_USER &&
	    record->chain.nr && record->chain.nr <= SFT_MAX_CHAIN) {
		chain.nr = record->chain.nr;
		memcpy(chain.ip, record->chain.ip,
		       chain.nr * sizeof(chain.ip[0]));
		return sft_chain_check(&chain, ip, 2);
	}
	fprintf(stderr, "# not a walk of the kernel:\n");
	if (record)
		print_record(record);
	return false;
}

bool sfa_is_walk(const struct sfa_record *record)
{
	return sfa_is_walk_at(record, sft_touch_load);
}

bool sfa_is_direct(const struct sfa_record *record)
{
	return sfa_is_walk(record) && record->type == PERF_RECORD_SAMPLE;
}
