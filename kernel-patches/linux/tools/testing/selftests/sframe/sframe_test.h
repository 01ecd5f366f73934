/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Helpers of the SFrame window tests: sections made field by field, code with
 * known stacks, and callchains of perf events.
 *
 * Calls return 0, unless they say otherwise, or a negative errno.
 */
#ifndef SFRAME_TEST_H
#define SFRAME_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <linux/sframe.h>
#include "kselftest.h"
#include "sframe_format.h"
#include "arch.h"

#define SFT_PAGE	4096UL

/* ---- section.c: sections and registration ---------------------------- */

/**
 * struct sft_row - a row, field by field; nothing is checked
 * @start:	offset from the function or block
 * @info:	as stored, except for the number of words
 * @nr_words:	data words to store, and to announce in info
 * @words:	data words
 */
struct sft_row {
	__u32	start;
	__u8		info;
	__u8		nr_words;
	__s32		words[15];
};

/* Size of data words, part of info. */
#define SFT_WORD1	0x00
#define SFT_WORD2	0x20
#define SFT_WORD4	0x40

/* A CFA offset as rows store it. */
#define SFT_CFA(off)	(((off) - SFT_SAVE_AREA) / SFT_CFA_SCALE)
/* The same from the distance between the callee's and caller's SP. */
#define SFT_SP_CFA(off)		SFT_CFA((off) + SFT_SAVE_AREA)
/* Offset of the return address from the CFA in made-up frames. */
#define SFT_RA_FROM_CFA		(SFT_RA_FROM_SP - SFT_SAVE_AREA)

/* Rows of the DEFAULT type: CFA = sp or fp + cfa, caller's fp at CFA + fp. */
#define SFT_SP(off, cfa)	{ (off), 1, 1, { (cfa) } }
#define SFT_SP_FP(off, cfa, fp)	{ (off), 1, 2, { (cfa), (fp) } }
#define SFT_FP_FP(off, cfa, fp)	{ (off), 0, 2, { (cfa), (fp) } }
/* A made-up frame of this size; has an RA word unless its offset is fixed. */
#define SFT_FRAME(off, size)						\
	{ (off), 1, SFT_RA_OFF ? 1 : 2,					\
	  { SFT_SP_CFA(size), SFT_RA_FROM_CFA } }
#define SFT_OUTERMOST(off)	{ (off), 0, 0, { 0 } }

/* Rows of the FLEX type: the words as they are. */
#define SFT_FLEX(off, ...)						\
	{ (off), 0, sizeof((__s32[]){ __VA_ARGS__ }) / 4, { __VA_ARGS__ } }
#define SFT_REG(nr)		((nr) << 3 | SFRAME_FLEX_REG_P)
#define SFT_REG_DEREF(nr)	(SFT_REG(nr) | SFRAME_FLEX_DEREF_P)
#define SFT_CFA_DEREF		SFRAME_FLEX_DEREF_P

/**
 * struct sft_fde - a function of a section
 * @start:	its first byte
 * @size:	bytes
 * @rows:	its rows
 * @nr_rows:	number of rows
 * @info:	as stored; its low bits give the size of row starts
 * @info2:	as stored
 * @rep_size:	as stored
 */
struct sft_fde {
	const void		*start;
	__u32		size;
	const struct sft_row	*rows;
	__u16		nr_rows;
	__u8			info;
	__u8			info2;
	__u8			rep_size;
};

#define SFT_FDE(text, len, table)					\
	{ .start = (text), .size = (len), .rows = (table),		\
	  .nr_rows = sizeof(table) / sizeof((table)[0]) }

/* A slot of this kind, see slots.h. */
#define SFT_SLOT_FDE(text, kind)					\
	{ .start = (text), .size = SFT_SLOT, .rows = (kind).rows,	\
	  .nr_rows = (kind).nr_rows }

/* Write a section for @nr functions to @sec; returns its size. */
size_t sft_build(void *sec, const struct sft_fde *fdes, unsigned int nr);

/* Store the low bytes of a number in the byte order of this machine. */
__u8 *sft_put(__u8 *pos, __u32 value, unsigned int size);

/* Parts of a section that sft_build() made. */
struct sframe_header *sft_header(void *sec);
struct sframe_fde *sft_index(void *sec, unsigned int i);
struct sframe_fde_attr *sft_attr(void *sec, unsigned int i);
__u8 *sft_row_bytes(void *sec, unsigned int i);

int sft_register(unsigned long key, const void *sec, size_t len,
		 const struct sframe_window_opts *opts);
/* The same with opts for this text range. */
int sft_register_text(unsigned long key, const void *sec, size_t len,
		      const void *text, size_t text_len, __u32 flags);
int sft_unregister(unsigned long key);
int sft_query(unsigned long what);

/*
 * Where a step by frame pointer does not recover the stack pointer, register
 * rows for sft_leaf and sft_escape, so that rows of their callers can be used.
 * Elsewhere do nothing.
 */
int sft_register_callees(void);

/* Why the tests cannot run here, or NULL. */
const char *sft_missing(void);

/* ---- stats.c: /proc/self/sframe -------------------------------------- */

#define SFT_MAX_REASONS	32

struct sft_reason {
	char		name[16];
	unsigned long long	refused;
};

/**
 * struct sft_stats - counts of the kernel
 * @windows:	number of registered windows
 * @bytes:	bytes of kernel memory that these take
 * @nr:		number of reasons
 * @reasons:	refused steps by reason
 * @last_reason: name of the last refused step's reason, or "none"
 * @last_ip:	address of the last refused step
 */
struct sft_stats {
	unsigned int		windows;
	unsigned long		bytes;
	unsigned int		nr;
	struct sft_reason	reasons[SFT_MAX_REASONS];
	char			last_reason[16];
	unsigned long long	last_ip;
};

int sft_stats(struct sft_stats *stats);
/* Number of windows, or a negative errno. */
int sft_windows(void);
/* Steps refused for @reason; UINT64_MAX if it does not exist. */
__u64 sft_count(const struct sft_stats *stats, const char *reason);
/* The same, read now. */
__u64 sft_refused(const char *reason);
/* Steps refused until now, for any reason. */
__u64 sft_all_refused(void);
/* Were exactly @nr steps refused between the two, each for @reason? */
bool sft_only_for(const struct sft_stats *before,
		  const struct sft_stats *after, const char *reason, __u64 nr);

/* ---- walk.c, break.c: memory, events and callchains ------------------- */

#define SFT_RW	(PROT_READ | PROT_WRITE)
#define SFT_RX	(PROT_READ | PROT_EXEC)

/* Anonymous memory; NULL on failure. */
void *sft_map(size_t size, int prot);
/*
 * Copy code byte by byte: if one instruction copies more, QEMU before version 8
 * may run the old code on s390x.
 */
void sft_put_code(void *to, const void *from, size_t size);
/* Map an executable copy of @code; NULL on failure. */
void *sft_map_code(const void *code, size_t size, size_t map_size);

#define SFT_MAX_CHAIN	600

/**
 * struct sft_chain - user part of a callchain
 * @nr:		number of addresses
 * @ip:		addresses, the innermost first
 */
struct sft_chain {
	unsigned int	nr;
	__u64	ip[SFT_MAX_CHAIN];
};

/**
 * struct sft_event - an open perf event of this thread and its records
 * @fd:		the event
 * @ring:	its ring buffer
 * @defer:	the callchain is deferred
 */
struct sft_event {
	int				fd;
	struct perf_event_mmap_page	*ring;
	bool				defer;
};

/* The end of user space on this machine. */
unsigned long sft_user_end(void);

/* Go to this CPU and stay there. */
int sft_run_on(unsigned int cpu);
/* Write to a file that exists. */
int sft_write_text(const char *path, const char *text);
/* The number at the start of a file, or -1 on failure. */
long sft_read_number(const char *path);

/* The type of a dynamic PMU, or -1. */
int sft_pmu_type(const char *name);
/* In config of a uprobe event: probe the return of the function. */
#define SFT_RETPROBE	1

/* Fill in what all events share: each occurrence samples a user callchain. */
void sft_attr_init(struct perf_event_attr *attr, __u32 type, bool defer);
/*
 * Make it a probe at @offset of a file; false if the kernel is without
 * CONFIG_UPROBE_EVENTS.
 */
bool sft_probe_in(struct perf_event_attr *attr, const char *path,
		  unsigned long offset);
/* The same at @addr of this program. */
bool sft_probe_at(struct perf_event_attr *attr, const void *addr);
int sft_event_open(struct sft_event *event, struct perf_event_attr *attr);
/* The same only while on @cpu; -1 is any. */
int sft_event_open_on(struct sft_event *event, struct perf_event_attr *attr,
		      int cpu);
/* The same for another process. */
int sft_event_open_of(struct sft_event *event, struct perf_event_attr *attr,
		      pid_t pid, int cpu);
void sft_event_close(struct sft_event *event);
/* Close it without telling break.c. */
void sft_event_close_ring(struct sft_event *event);
/* Make break.c forget the event. */
void sft_break_close(const struct sft_event *event);
/* An event which fires when @addr is about to be executed. */
int sft_break_open(struct sft_event *event, const void *addr, bool defer);
/* An event which raises SIGTRAP the next time @addr is about to be executed. */
int sft_trap_open(struct sft_event *event, const void *addr);
/* Copy the next record to @buf; returns its type, or 0 if there is none. */
int sft_event_record(struct sft_event *event, __u64 *buf, size_t size);
/*
 * Take the next sample; a deferred callchain is merged by its cookie. -ENODATA
 * if there is none, -EPROTO if the records are not as expected.
 */
int sft_event_chain(struct sft_event *event, struct sft_chain *chain);
/*
 * Take the next callchain and skip other records: the samples of one entry into
 * the kernel share a deferred callchain. -ENODATA if there is none.
 */
int sft_event_any_chain(struct sft_event *event, struct sft_chain *chain);

/* ---- frames.S: code with known stacks -------------------------------- */

/**
 * struct sft_call - what sft_inner calls
 * @entry:	code to call, which rows describe
 * @target:	passed to it in SFT_REGNUM_TARGET
 */
struct sft_call {
	const void	*entry;
	const void	*target;
};

/* Number of offsets: the first may be 0, any other 0 ends the array. */
static inline unsigned int sft_nr_offsets(const __u8 *offsets, size_t max)
{
	unsigned int nr = 1;

	while (nr < max && offsets[nr])
		nr++;
	return nr;
}

/* Number of instructions in a struct sft_slot. */
#define sft_nr_insns(slot)						\
	sft_nr_offsets((slot)->insns, sizeof((slot)->insns))

/*
 * Run @call on a new stack, called by sft_enter, sft_outer and sft_inner.
 * Returns when the call returns or sft_escape runs.
 */
void sft_run(const struct sft_call *call);
/* The same without events. */
void sft_run_here(const struct sft_call *call);
/*
 * Call @run with @arg and take the sample of an enabled event; call it again if
 * the event did not fire.
 */
int sft_event_run(struct sft_event *event, void (*run)(const void *arg),
		  const void *arg, struct sft_chain *chain);
/* The same, but enables the event meanwhile; -EPROTO if it samples twice. */
int sft_event_sample_run(struct sft_event *event, void (*run)(const void *arg),
			 const void *arg, struct sft_chain *chain);
/* sft_run() as @run for these two. */
void sft_run_call(const void *call);
/* sft_event_sample_run() with sft_run(@call). */
int sft_event_sample(struct sft_event *event, const struct sft_call *call,
		     struct sft_chain *chain);

/* The callchain of the only time @addr is executed in sft_run(@call). */
int sft_chain_at(const void *addr, bool defer, const struct sft_call *call,
		 struct sft_chain *chain);

/* Parts of sft_run(). */
void sft_enter(void *stack, void (*func)(const struct sft_call *),
	       const struct sft_call *call);
void sft_outer(const struct sft_call *call);

extern const char sft_enter_ret[], sft_outer_ret[], sft_inner_ret[];

/* Functions with frame pointer: entry, the byte after its prologue, end. */
extern const char sft_leaf[], sft_leaf_body[], sft_leaf_end[];
/* With frame pointer; calls sft_leaf. */
extern const char sft_pass[], sft_pass_ret[];
/* As sft_leaf, for signals. */
extern const char sft_handler[], sft_handler_body[], sft_handler_end[];
extern const char sft_handler_2[], sft_handler_2_body[], sft_handler_2_end[];
/* Code that a handler returns to; its FDE begins one instruction earlier. */
extern const char sft_restorer_fde[], sft_restorer[], sft_restorer_syscall[];
extern const char sft_restorer_end[];
extern const char sft_plain_restorer_fde[], sft_plain_restorer[];
extern const char sft_plain_restorer_end[];
/* Sends SIGUSR1 to its own process. */
extern const char sft_kill[], sft_kill_ret[], sft_kill_end[];
/* As sft_leaf, but returns with "ret $8". */
extern const char sft_leaf_pop[], sft_leaf_pop_body[];
/* As sft_leaf, but jumps back to sft_enter instead of returning. */
extern const char sft_escape[], sft_escape_body[], sft_escape_end[];
/* Jumps to sft_escape on the stack at the target, see SFT_ONTO_SP. */
extern const char sft_onto[];
/* Saves an odd address where the back chain expects the return address. */
extern const char sft_odd[], sft_odd_body[];
/* Calls its target, a function of the vDSO. */
extern const char sft_vdso[], sft_vdso_ret[];
/* Writes one byte, for events that a system call causes. */
extern const char sft_write[], sft_write_ret[];
/* Reads the byte at its target; sft_touch_abort is its rseq abort handler. */
extern const char sft_touch[], sft_touch_load[], sft_touch_loaded[];
extern const char sft_touch_abort[];

struct sft_write_call {
	struct sft_call	call;
	long		fd;
	const char	*byte;
};

/*
 * Placeholders for the last addresses of a callchain: the callers of code that
 * sft_inner calls; the same if the walk misses sft_inner; and the same at the
 * call in sft_slot_arg, where the walk may end for lack of a frame pointer.
 */
#define SFT_CALLERS	1
#define SFT_LOST	2
#define SFT_SLOT_LOST	3

/* Does @chain equal @ip? The last of @ip may be a placeholder. */
bool sft_chain_is(const struct sft_chain *chain, const __u64 *ip,
		  unsigned int nr);
/* The same; if not, prints both. */
bool sft_chain_check(const struct sft_chain *chain, const __u64 *ip,
		     unsigned int nr);

/* EXPECT_CHAIN(chain, first, second, ...): addresses as integers. */
#define SFT_LIST(...)	((const __u64 []){ __VA_ARGS__ })
#define SFT_COUNT(...)	(sizeof(SFT_LIST(__VA_ARGS__)) / sizeof(__u64))
#define EXPECT_CHAIN(chain, ...)					\
	EXPECT_TRUE(sft_chain_check((chain), SFT_LIST(__VA_ARGS__),	\
				    SFT_COUNT(__VA_ARGS__)))

#endif /* SFRAME_TEST_H */
