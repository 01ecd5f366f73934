/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the tests of SFrame windows share: sections made field by field, code
 * with known stacks, and callchains of perf events.
 *
 * Calls return 0 (or what they say) or a negative errno.
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
 * @info:	as stored, but for the number of words
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

/* The offset of a CFA, as rows have it. */
#define SFT_CFA(off)	(((off) - SFT_SAVE_AREA) / SFT_CFA_SCALE)
/* The same from the distance between the stack pointers of callee and caller. */
#define SFT_SP_CFA(off)		SFT_CFA((off) + SFT_SAVE_AREA)
/* Where made-up frames have their return address, from the CFA. */
#define SFT_RA_FROM_CFA		(SFT_RA_FROM_SP - SFT_SAVE_AREA)

/* Rows of the DEFAULT type: CFA = sp or fp + cfa, caller's fp at CFA + fp. */
#define SFT_SP(off, cfa)	{ (off), 1, 1, { (cfa) } }
#define SFT_SP_FP(off, cfa, fp)	{ (off), 1, 2, { (cfa), (fp) } }
#define SFT_FP_FP(off, cfa, fp)	{ (off), 0, 2, { (cfa), (fp) } }
/* A made-up frame of this size; where the place of @ra is fixed, it is that. */
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

/* Store the lower bytes of a number as this machine does. */
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
 * Where a step by frame pointer does not tell the stack pointer, what has called
 * sft_leaf or sft_escape can be found if these have rows: register them. Elsewhere
 * do nothing.
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
 * struct sft_stats - what the kernel has counted
 * @windows:	registered now
 * @bytes:	of kernel memory that these take
 * @nr:		number of reasons
 * @reasons:	refused steps by reason
 * @last_reason: name of the last refused step's reason, or "none"
 * @last_ip:	its address
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
/* Steps refused for @reason; UINT64_MAX if there is none of this name. */
__u64 sft_count(const struct sft_stats *stats, const char *reason);
/* The same, until now. */
__u64 sft_refused(const char *reason);
/* Steps refused until now. */
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
 * Copy code byte by byte: where an instruction copies more, QEMU may run what
 * was at the address before (of s390x, before version 8).
 */
void sft_put_code(void *to, const void *from, size_t size);
/* A mapping of its own with a copy of @code that can run. */
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

/* Where user space ends here. */
unsigned long sft_user_end(void);

/* Go to this CPU and stay there. */
int sft_run_on(unsigned int cpu);
/* Write to a file that exists. */
int sft_write_text(const char *path, const char *text);
/* What is not negative and stands first in a file, or -1. */
long sft_read_number(const char *path);

/* The type of events of a dynamic kind, or -1. */
int sft_pmu_type(const char *name);
/* In config of an uprobe: at the return of the function. */
#define SFT_RETPROBE	1

/* Fill in what all events here have in common: a user callchain each time. */
void sft_attr_init(struct perf_event_attr *attr, __u32 type, bool defer);
/*
 * Have it be a probe there in a file; false if the kernel is without
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
/* The same of another process. */
int sft_event_open_of(struct sft_event *event, struct perf_event_attr *attr,
		      pid_t pid, int cpu);
void sft_event_close(struct sft_event *event);
/* Without what break.c knows of it. */
void sft_event_close_ring(struct sft_event *event);
/* The event is no longer there. */
void sft_break_close(const struct sft_event *event);
/* An event which fires when @addr is about to be executed. */
int sft_break_open(struct sft_event *event, const void *addr, bool defer);
/* An event which raises SIGTRAP the next time @addr is about to be executed. */
int sft_trap_open(struct sft_event *event, const void *addr);
/* Take the next record as it is; 0 if there is none, else its type. */
int sft_event_record(struct sft_event *event, __u64 *buf, size_t size);
/*
 * Take the next sample; a deferred callchain is merged by its cookie. -ENODATA
 * if there is none, -EPROTO if the records are not as they should be.
 */
int sft_event_chain(struct sft_event *event, struct sft_chain *chain);
/*
 * Take the next callchain, whatever is between: samples of one entry into the
 * kernel share a deferred one. -ENODATA if there is none.
 */
int sft_event_any_chain(struct sft_event *event, struct sft_chain *chain);

/* ---- frames.S: code with known stacks -------------------------------- */

/**
 * struct sft_call - what sft_inner calls
 * @entry:	called; what rows describe
 * @target:	passed to it in r9
 */
struct sft_call {
	const void	*entry;
	const void	*target;
};

/* The last instruction has the largest offset; 0 ends them but for the first. */
static inline unsigned int sft_nr_offsets(const __u8 *offsets, size_t max)
{
	unsigned int nr = 1;

	while (nr < max && offsets[nr])
		nr++;
	return nr;
}

/* How many instructions a struct sft_slot has. */
#define sft_nr_insns(slot)						\
	sft_nr_offsets((slot)->insns, sizeof((slot)->insns))

/*
 * Run @call below sft_enter, sft_outer and sft_inner on a stack of its own.
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
/* The same with the event enabled for it; another sample is -EPROTO. */
int sft_event_sample_run(struct sft_event *event, void (*run)(const void *arg),
			 const void *arg, struct sft_chain *chain);
/* sft_run() for these two. */
void sft_run_call(const void *call);
/* sft_event_sample_run() with sft_run(@call). */
int sft_event_sample(struct sft_event *event, const struct sft_call *call,
		     struct sft_chain *chain);

/* The callchain of the only time @addr is executed in sft_run(@call). */
int sft_chain_at(const void *addr, bool defer, const struct sft_call *call,
		 struct sft_chain *chain);

/* Parts of it. */
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
/* Where a handler returns to; its FDE begins at the byte before. */
extern const char sft_restorer_fde[], sft_restorer[], sft_restorer_syscall[];
extern const char sft_restorer_end[];
extern const char sft_plain_restorer_fde[], sft_plain_restorer[];
extern const char sft_plain_restorer_end[];
/* Sends SIGUSR1 to its own process. */
extern const char sft_kill[], sft_kill_ret[], sft_kill_end[];
/* The same, returns with "ret $8". */
extern const char sft_leaf_pop[], sft_leaf_pop_body[];
/* The same, does not return but goes back to sft_enter. */
extern const char sft_escape[], sft_escape_body[], sft_escape_end[];
/* Becomes sft_escape, with its return address at the target, see SFT_ONTO_SP. */
extern const char sft_onto[];
/* Has an odd address where its back chain leads to the return address. */
extern const char sft_odd[], sft_odd_body[];
/* Calls the function of the vDSO that is its target. */
extern const char sft_vdso[], sft_vdso_ret[];
/* Writes one byte, for events that a system call causes. */
extern const char sft_write[], sft_write_ret[];
/* Reads the byte that is its target; where this is aborted. */
extern const char sft_touch[], sft_touch_load[], sft_touch_loaded[];
extern const char sft_touch_abort[];

struct sft_write_call {
	struct sft_call	call;
	long		fd;
	const char	*byte;
};

/*
 * In place of addresses: the stack of whatever sft_inner has called, from its
 * caller on; what is left of it when that direct caller is lost; and what is left
 * of it at the call of sft_slot_arg, where there may be no chain of frames.
 */
#define SFT_CALLERS	1
#define SFT_LOST	2
#define SFT_SLOT_LOST	3

/* Is @chain exactly the addresses @ip? The last one may be one of those. */
bool sft_chain_is(const struct sft_chain *chain, const __u64 *ip,
		  unsigned int nr);
/* The same, and if not prints both. */
bool sft_chain_check(const struct sft_chain *chain, const __u64 *ip,
		     unsigned int nr);

/* EXPECT_CHAIN(chain, first, second, ...): addresses as integers. */
#define SFT_LIST(...)	((const __u64 []){ __VA_ARGS__ })
#define SFT_COUNT(...)	(sizeof(SFT_LIST(__VA_ARGS__)) / sizeof(__u64))
#define EXPECT_CHAIN(chain, ...)					\
	EXPECT_TRUE(sft_chain_check((chain), SFT_LIST(__VA_ARGS__),	\
				    SFT_COUNT(__VA_ARGS__)))

#endif /* SFRAME_TEST_H */
