/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Helpers of the PR_UNWIND_ASSIST tests: a thread that is asked for its stack,
 * samples of it at a known instruction, and checks of all records that perf
 * writes.
 *
 * Calls return 0, unless they say otherwise, or a negative errno.
 */
#ifndef SFRAME_ASSIST_TEST_H
#define SFRAME_ASSIST_TEST_H

#include <signal.h>
#include <linux/unwind_assist.h>

#include "sframe_test.h"

#ifndef PERF_RECORD_MISC_CALLCHAIN_ASSISTED
#define PERF_RECORD_MISC_CALLCHAIN_ASSISTED	0x2000
#endif

/* The kernel's real-time signals; the C library reserves some of them. */
#define SFA_FIRST_SIGNAL	32
#define SFA_LAST_SIGNAL		64
/* The tests are asked by this signal. */
#define SFA_SIGNAL		SFA_LAST_SIGNAL

#define SFA_MAX_FRAMES	UNWIND_ASSIST_MAX_FRAMES
/* Longer than the kernel waits. */
#define SFA_LATE_MS	12

/* ---- The system call ------------------------------------------------- */

int sfa_on(unsigned long signal, unsigned long flags);
int sfa_off(void);
/* Returns the number of frames in the kernel's walk, even if @nr is less. */
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
/* Counts of the calling thread; no lines if the file cannot be read. */
struct sfa_counts sfa_counts(void);
/* -1 if there is no such line. */
long long sfa_count(const struct sfa_counts *counts, const char *name);
/*
 * Did exactly the counts in @names go up: "asked late" by one each, "asked=2
 * late=2" by two? If not, prints all increments.
 */
bool sfa_counted_between(const struct sfa_counts *before,
			 const struct sfa_counts *after, const char *names);
/* The same for the calling thread, from @before until now. */
bool sfa_counted(const struct sfa_counts *before, const char *names);
/* With no question open: has each question of this thread an outcome? */
bool sfa_balanced(void);

/* ---- A thread that is asked ------------------------------------------ */

/**
 * struct sfa_thread - state of a thread's handler
 * @handled:	number of questions received
 * @token:	token of the last question
 * @info:	siginfo of the last question
 * @pc:		address that the last question interrupted
 * @answer:	called by the handler; NULL leaves the question open
 * @frames:	frames for sfa_say_frames()
 * @nr:		number of @frames
 * @ret:	result of the system call in sfa_say_*()
 * @data:	for a test's own @answer
 * @page:	page that each sample drops and faults in
 * @stack:	stack for code with known frames
 * @depth:	number of parts of @stack in use
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

/* The default answer: frames that no walk contains. */
#define SFA_NR_MARKS	3
extern const __u64 sfa_marks[SFA_NR_MARKS];

/* For sfa_thread.answer. */
void sfa_say_frames(struct sfa_thread *me);
void sfa_say_native(struct sfa_thread *me);

/*
 * Set up page, stacks and handler of this thread, and opt in. This locks the
 * memory of the process, so that only samples cause page faults.
 */
int sfa_begin(void);
/* The same without opting in. */
int sfa_prepare(void);
/* Install the handler with these flags of struct sigaction. */
int sfa_handle(int signal, int flags);
/* Set the alternate stack of this thread again, with these ss_flags. */
int sfa_set_stack(int flags);
bool sfa_on_stack(void);

void sfa_wait_ms(unsigned int ms);
/* The monotonic clock in milliseconds. */
__u64 sfa_now_ms(void);

/* ---- Samples --------------------------------------------------------- */

/* An event at each user page fault, with a deferred callchain. */
void sfa_attr_init(struct perf_event_attr *attr);
/* The same each time the thread is scheduled out, also in the kernel. */
void sfa_switches_init(struct perf_event_attr *attr);
/* Open it for this thread, disabled; see sfa_enable(). */
int sfa_event_open(struct sft_event *event);
/* Open another event that writes to the same ring; returns its descriptor. */
int sfa_event_beside(const struct sft_event *event,
		     struct perf_event_attr *attr);
/* Run only the code to sample between these two. */
void sfa_enable(const struct sft_event *event);
void sfa_disable(const struct sft_event *event);

/* Page-fault at sft_touch_load; its callers are SFT_CALLERS. */
void sfa_touch(void);
/* The same on the alternate stack, and on the current stack. */
void sfa_touch_there(void);
void sfa_touch_here(void);

/**
 * struct sfa_record - a record of perf
 * @type:	PERF_RECORD_*
 * @misc:	misc of its header
 * @tid:	the thread
 * @cookie:	cookie of the deferred callchain, or 0 if there is none
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
 * @nr:		number of records
 * @nr_words:	number of words in use
 * @next:	index of the record that sfa_next() returns
 * @others:	also has deferred callchains of other events' samples
 * @again:	has samples in system calls: one may come after the kernel's
 *		walk for an earlier sample in the same call
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

/* Append all records in the ring to the log. */
int sfa_log_read(struct sfa_log *log, struct sft_event *event);
/* The same. */
int sfa_session_read(struct sfa_session *session);
/*
 * Is there exactly one deferred callchain for each cookie, after all samples
 * with it, and before any sample of the thread with another cookie? If not,
 * prints why.
 */
bool sfa_log_right(const struct sfa_log *log);
/* The next record of the log, or NULL. */
const struct sfa_record *sfa_next(struct sfa_log *log);
/*
 * Read the ring. If it has just one sample and its deferred callchain, returns
 * the callchain, else prints the records and returns NULL.
 */
const struct sfa_record *sfa_next_pair(struct sfa_session *session);
/* Enable the event, sfa_touch(), disable it, then sfa_next_pair(). */
const struct sfa_record *sfa_sample(struct sfa_session *session);
/* The same with @touch in place of sfa_touch(). */
const struct sfa_record *sfa_sample_at(struct sfa_session *session,
				       void (*touch)(void));

/* Is it the deferred callchain with these frames? If not, prints it. */
bool sfa_is_answer(const struct sfa_record *record, const __u64 *frames,
		   unsigned int nr);
/* Is it the kernel's walk from @addr, deferred or not? */
bool sfa_is_walk_at(const struct sfa_record *record, const void *addr);
/* The same at sft_touch_load. */
bool sfa_is_walk(const struct sfa_record *record);
/* Is it a sample that has the kernel's walk from sft_touch_load in it? */
bool sfa_is_direct(const struct sfa_record *record);
/* Is it the deferred callchain with sfa_marks? */
bool sfa_is_marks(const struct sfa_record *record);

#endif /* SFRAME_ASSIST_TEST_H */
