/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the tests of PR_UNWIND_ASSIST share: a thread that is asked for its
 * stack, samples of it at an instruction that is known, and a look at all that
 * perf writes of them.
 *
 * Calls return 0 (or what they say) or a negative errno.
 */
#ifndef SFRAME_ASSIST_TEST_H
#define SFRAME_ASSIST_TEST_H

#include <signal.h>
#include <linux/unwind_assist.h>

#include "sframe_test.h"

#ifndef PERF_RECORD_MISC_CALLCHAIN_ASSISTED
#define PERF_RECORD_MISC_CALLCHAIN_ASSISTED	0x2000
#endif

/* What the kernel has for real-time signals; the C library has some for itself. */
#define SFA_FIRST_SIGNAL	32
#define SFA_LAST_SIGNAL		64
/* By which the tests are asked. */
#define SFA_SIGNAL		SFA_LAST_SIGNAL

#define SFA_MAX_FRAMES	UNWIND_ASSIST_MAX_FRAMES
/* Longer than the kernel waits. */
#define SFA_LATE_MS	12

/* ---- The system call ------------------------------------------------- */

int sfa_on(unsigned long signal, unsigned long flags);
int sfa_off(void);
/* How many frames there are. */
int sfa_read(__u64 token, void *frames, unsigned long nr);
int sfa_answer(__u64 token, const void *frames, unsigned long nr);

/* Why the tests cannot run here, or NULL. */
const char *sfa_missing(void);

/* ---- /proc/PID/task/TID/unwind_assist -------------------------------- */

#define SFA_MAX_COUNTS	32

struct sfa_count {
	char		name[16];
	long long	nr;
};

/**
 * struct sfa_counts - the lines of the file
 * @nr:		how many
 * @counts:	the first one is "signal"
 */
struct sfa_counts {
	unsigned int		nr;
	struct sfa_count	counts[SFA_MAX_COUNTS];
};

int sfa_counts_of(pid_t pid, pid_t tid, struct sfa_counts *counts);
/* Of the calling thread; what cannot be read has no lines. */
struct sfa_counts sfa_counts(void);
/* -1 if there is no such line. */
long long sfa_count(const struct sfa_counts *counts, const char *name);
/*
 * Did exactly these counts go up, @names being "asked late", by one each, or
 * "asked=2 late=2"? If not prints what did.
 */
bool sfa_counted_between(const struct sfa_counts *before,
			 const struct sfa_counts *after, const char *names);
/* The same of the calling thread until now. */
bool sfa_counted(const struct sfa_counts *before, const char *names);
/* Of a thread without an open question: did something become of each? */
bool sfa_balanced(void);

/* ---- A thread that is asked ------------------------------------------ */

/**
 * struct sfa_thread - of each thread, what its handler has and does
 * @handled:	questions that came
 * @token:	of the last one
 * @info:	its siginfo
 * @pc:		where it came
 * @answer:	what the handler calls; NULL leaves the question open
 * @frames:	for sfa_say_frames()
 * @nr:		how many
 * @ret:	of the system call in sfa_say_*()
 * @data:	for a test's own @answer
 * @page:	is not there before a sample
 * @stack:	for code with known frames
 * @depth:	how many of its parts are in use
 */
struct sfa_thread {
	unsigned int	handled;
	__u64		token;
	siginfo_t	info;
	unsigned long	pc;
	void		(*answer)(struct sfa_thread *me);
	const __u64	*frames;
	unsigned long	nr;
	int		ret;
	void		*data;
	__u8		*page;
	__u8		*stack;
	unsigned int	depth;
};

extern __thread struct sfa_thread sfa_me;

/* Frames that no walk has, which a thread says at first. */
#define SFA_NR_MARKS	3
extern const __u64 sfa_marks[SFA_NR_MARKS];

/* For sfa_thread.answer. */
void sfa_say_frames(struct sfa_thread *me);
void sfa_say_native(struct sfa_thread *me);

/*
 * Have what is below for this thread, a handler and an alternate stack, and opt
 * in. Memory of the process is locked: nothing else of it has page faults.
 */
int sfa_begin(void);
/* The same without opting in. */
int sfa_prepare(void);
/* Install the handler with these flags of struct sigaction. */
int sfa_handle(int signal, int flags);
/* The alternate stack of this thread, which it has already; 0 is none. */
int sfa_set_stack(int flags);
bool sfa_on_stack(void);

void sfa_wait_ms(unsigned int ms);
/* Milliseconds since some moment. */
__u64 sfa_now_ms(void);

/* ---- Samples --------------------------------------------------------- */

/* One at each page fault of user space, with a deferred callchain. */
void sfa_attr_init(struct perf_event_attr *attr);
/* The same each time that the thread is put to sleep, whatever it is in. */
void sfa_switches_init(struct perf_event_attr *attr);
/* Of this thread; sfa_enable() begins. */
int sfa_event_open(struct sft_event *event);
/* Another one of this thread, which writes to the same ring: its descriptor. */
int sfa_event_beside(const struct sft_event *event,
		     struct perf_event_attr *attr);
/* Nothing between but what is to be sampled. */
void sfa_enable(const struct sft_event *event);
void sfa_disable(const struct sft_event *event);

/* A page fault at sft_touch_load, below which is SFT_CALLERS. */
void sfa_touch(void);
/* The same on the alternate stack, and on the stack that is in use. */
void sfa_touch_there(void);
void sfa_touch_here(void);

/**
 * struct sfa_record - a record of perf
 * @type:	PERF_RECORD_*
 * @misc:	of its header
 * @tid:	the thread
 * @cookie:	of the deferred callchain; 0: this is no sample with one
 * @chain:	user part of the callchain
 */
struct sfa_record {
	__u32			type;
	__u16			misc;
	pid_t			tid;
	__u64			cookie;
	struct {
		unsigned int	nr;
		const __u64	*ip;
	} chain;
};

#define SFA_MAX_RECORDS	8192
#define SFA_MAX_WORDS	131072

/**
 * struct sfa_log - all records of an event
 * @nr:		how many
 * @nr_words:	what callchains take
 * @next:	what sfa_next() returns
 * @others:	has deferred callchains of samples of other events, too
 * @again:	has samples in system calls, which may come after a walk of the
 *		kernel that was for a sample before in the same call
 * @records:	the records
 * @words:	their callchains
 */
struct sfa_log {
	unsigned int		nr;
	unsigned int		nr_words;
	unsigned int		next;
	bool			others;
	bool			again;
	struct sfa_record	records[SFA_MAX_RECORDS];
	__u64			words[SFA_MAX_WORDS];
};

/**
 * struct sfa_session - an event and what it has written
 * @event:	the event
 * @log:	its records
 */
struct sfa_session {
	struct sft_event	event;
	struct sfa_log		*log;
};

/* Take what is in the ring. */
int sfa_log_read(struct sfa_log *log, struct sft_event *event);
/* The same. */
int sfa_session_read(struct sfa_session *session);
/*
 * Is there exactly one deferred callchain for each cookie, after all samples
 * with it, and before any sample of the thread with another cookie? If not
 * prints why.
 */
bool sfa_log_right(const struct sfa_log *log);
/* A record that this has not returned before, or NULL. */
const struct sfa_record *sfa_next(struct sfa_log *log);
/*
 * Read the ring: if all that is new is one sample and its deferred callchain,
 * returns this, else prints what is there and returns NULL.
 */
const struct sfa_record *sfa_next_pair(struct sfa_session *session);
/* Enable, touch and disable, and then the same. */
const struct sfa_record *sfa_sample(struct sfa_session *session);
/* The same with another way to touch. */
const struct sfa_record *sfa_sample_at(struct sfa_session *session,
				       void (*touch)(void));

/* Is it the deferred callchain with these frames? If not prints what it is. */
bool sfa_is_answer(const struct sfa_record *record, const __u64 *frames,
		   unsigned int nr);
/* Is it a callchain of the kernel at @addr, deferred or not? */
bool sfa_is_walk_at(const struct sfa_record *record, const void *addr);
/* The same at sft_touch_load. */
bool sfa_is_walk(const struct sfa_record *record);
/* Is it a sample with a callchain of the kernel at sft_touch_load? */
bool sfa_is_direct(const struct sfa_record *record);
/* Is it the deferred callchain with sfa_marks? */
bool sfa_is_marks(const struct sfa_record *record);

#endif /* SFRAME_ASSIST_TEST_H */
