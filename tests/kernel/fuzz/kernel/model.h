/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A task's memory and windows as the unwinder sees them, and the rules for
 * reading them:
 *  - a step reads in access sections, with faults disabled and under RCU, and
 *    calls no function while one is open;
 *  - each address is masked; one in a section only by the section's own mask,
 *    after a lookup, and inside the section; a step reads no byte twice, unless
 *    the section is a packed table;
 *  - reads of the stack and of packed tables are noted, to be compared with the words of rules;
 *  - a removed window is freed when RCU allows.
 * Memory and windows may change before any read: see struct event.
 */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "shim.h"
#include "sframe.h"
#include "sframe_format.h"

#include "ref.h"

/* A run of pages. Addresses outside of all regions are not mapped. */
enum page_state {
	PAGE_PRESENT,
	PAGE_SWAPPED,		/* there for those who may fault */
	PAGE_ABSENT,
};

struct region {
	unsigned long base;
	unsigned long size;
	u8 *bytes;
	u8 *pages;		/* enum page_state */
};

/*
 * What a step has seen of a byte of the section. A step may look at a second
 * window.
 */
struct shadow {
	u32 read[2];		/* the number of the read */
	u8 value[2];
	u8 fault[2];
};

enum {
	REGION_SECTION,
	REGION_STACK,
	REGION_OPTS,
	NR_REGIONS,
};

/* A change, by another thread, before the access number 'when'. */
enum event_kind {
	EVENT_NONE,
	EVENT_SECTION_STORE,
	EVENT_STACK_STORE,
	EVENT_SECTION_PAGE,
	EVENT_STACK_PAGE,
	EVENT_REMOVE,
	EVENT_REPLACE,
	NR_EVENT_KINDS,
};

struct event {
	u16 when;
	u8 kind;
	u8 size;		/* of a store; state of a page */
	u32 where;
	u64 value;
};

/* A read that is not of a section: size bytes, or a fault. */
struct load {
	unsigned long addr;
	u64 value;
	u8 size;
	bool fault;
	u64 seq;		/* changes of the registry so far */
};

/* A window, as the kernel and as the reference understand it. */
struct model_window {
	struct sframe_window *window;
	struct ref_window ref;
};

/* A lookup of a window, and what was found there. */
struct find {
	unsigned long ip;
	struct sframe_range range;
	u64 seq;
};

/* A step by windows: what it began with, what it did, which notes are its. */
struct step {
	struct unwind_user_state before, after;
	int ret;
	bool several;		/* at once */
	bool by_fp;		/* those where no window is */
	bool packed;		/* those through a packed table */
	bool table;		/* one was read */
	unsigned int made;	/* of several, and perhaps undone */
	bool may_go_on;		/* the next one is not refused before it reads */
	unsigned int first_ip, nr_ips;	/* of several, by the reference */
	u64 seq;		/* of the registry, before */
	u64 seq_behind[2];	/* when a section was read */
	u32 reads[2];		/* numbers of the reads */
	unsigned int nr_reads;	/* sections that were read */
	unsigned int bytes;	/* reads of them */
	unsigned int sections;	/* access sections */
	unsigned int looks;	/* at the clock */
	bool late;		/* seen there */
	unsigned int first_load, behind_load;
	unsigned int first_find, behind_find;
	/* by the reference */
	enum sframe_reason reason;
	struct ref_frame frame;
};

#define MAX_EVENTS	8
#define MAX_LOADS	16384
#define MAX_FINDS	8192
#define MAX_STEPS	4096
#define MAX_WINDOWS	3

struct model {
	struct region regions[NR_REGIONS];
	struct shadow *shadow;
	u32 nr_reads;		/* of sections, ever */
	int faults_disabled;
	int preempt_disabled;

	/* accesses */
	bool open;
	int rcu_depth;
	unsigned long masked;	/* the address that was masked last */
	bool has_masked;
	unsigned long masked_table;	/* the same of a table */
	bool has_masked_table;
	const struct sframe_walk *clock_of;	/* whose step is made */
	unsigned long fault_addr;
	unsigned int fault_size;

	/* the step in progress */
	struct step *step;
	const struct sframe_walk *walk;
	bool missing;		/* a byte that is needed was not read */
	bool read_barrier;	/* after the reads */

	struct load loads[MAX_LOADS];
	unsigned int nr_loads, next_load;
	struct find finds[MAX_FINDS];
	unsigned int nr_finds, next_find;
	struct step steps[MAX_STEPS];
	unsigned int nr_steps, next_step;

	/* addresses of several steps at once */
	unsigned long ips[MAX_LOADS];
	unsigned int nr_ips;

	unsigned int texts;	/* reads of code, by the reference */

	/* time */
	u64 limit;		/* of a walk */
	unsigned int unseen;	/* reads since the clock was looked at */

	/* changes */
	struct event events[MAX_EVENTS];
	unsigned int nr_events, next_event;
	u32 clock, due;
	u32 page_events;	/* pending, bit by bit */

	/* windows */
	struct sframe_registry registry;
	struct model_window windows[MAX_WINDOWS];
	unsigned int nr_windows;
	struct model_window *at[2];	/* what is registered now */
	struct model_window *successor;	/* of at[0] */
	struct sframe_window *removed[MAX_WINDOWS];	/* to be freed */
	unsigned int nr_removed;
	int refusal;			/* of the last registration */
	bool no_memory;			/* for another window */
};

extern struct model model;

/* Forget everything but the regions. */
void model_reset(void);
void model_start(bool faults_disabled);
/* Nothing may be left open or pinned. */
void model_end(void);
void model_add_event(const struct event *event);

/* Takes the next note: 0, or -EFAULT if that read faulted. */
int model_take_loads(unsigned long addr, unsigned int size, void *dst);
/* Whether a page was brought in: 0 or -EFAULT. */
int model_take_fault_in(void);
const struct find *model_take_find(unsigned long ip);
bool model_all_taken(void);

/* Compare one step. */
int model_step(struct unwind_user_state *state,
	       int (*real)(struct unwind_user_state *state));

/* The first window is gone, or its successor takes its place. */
void model_change_windows(void);

/* Window @nr as the registration of the kernel makes it; 0 or -errno. */
int model_register(unsigned long key, unsigned long addr, unsigned long len,
		   unsigned long opts);

const struct model_window *model_window_of(const struct sframe_window *window);

/* What a byte of the window's section was, in this read: 0 or -EFAULT. */
int model_section_byte(const struct ref_window *ref, unsigned long off,
		       u32 read, u8 *value);

/* In place of the kernel's, which knows all instructions. */
int unwind_user_code_pushes(const u8 *code, unsigned int length);

#endif
