/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A task's memory and windows as the unwinder sees them, and the rules for
 * looking at them:
 *  - reads of a section stay inside of it, and read no byte twice in a step;
 *  - other reads are noted, to be compared with the words that rows name;
 *  - no read that may fault under RCU or with faults disabled, and none of a
 *    section that could be freed.
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

/* What a step has seen of a byte of the section. */
struct shadow {
	u32 step;		/* the number of the step that read it */
	u8 value;
	u8 fault;
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
};

/* A window, as the kernel and as the reference understand it. */
struct model_window {
	struct sframe_window window;
	struct ref_window ref;
};

/* A lookup of a window, and what was found there. */
struct find {
	unsigned long ip;
	const struct sframe_window *window;
	u32 seq;
	u32 seq_behind;		/* when its section was read */
	bool read;		/* its section was */
	enum sframe_reason reason;
	struct ref_frame frame;
};

#define MAX_EVENTS	8
#define MAX_LOADS	8192
#define MAX_FINDS	2048
#define MAX_WINDOWS	3

struct model {
	struct region regions[NR_REGIONS];
	struct shadow *shadow;
	u32 step;
	bool faults_disabled;

	/* accesses */
	unsigned long open_addr, open_size;
	bool open;
	int rcu_depth;
	unsigned int rmbs;

	/* the lookup in progress */
	const struct model_window *reading;
	unsigned int rmbs_before;
	bool counted;
	unsigned int section_bytes;
	unsigned int budget_left;	/* of a walk */
	bool walks;

	struct load loads[MAX_LOADS];
	unsigned int nr_loads, next_load;
	struct find finds[MAX_FINDS];
	unsigned int nr_finds, next_find;

	/* changes */
	struct event events[MAX_EVENTS];
	unsigned int nr_events, next_event;
	u32 clock, due;
	u32 page_events;	/* pending, bit by bit */
	void (*at_access)(void);

	/* windows */
	struct sframe_registry registry;
	struct model_window windows[MAX_WINDOWS];
	unsigned int nr_windows;
	struct model_window *at[2];	/* what is registered now */
	struct model_window *successor;	/* of at[0] */
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
struct find *model_take_find(unsigned long ip);
bool model_all_taken(void);

/* Window @nr as the registration of the kernel makes it; 0 or -errno. */
int model_register(unsigned long key, unsigned long addr, unsigned long len,
		   unsigned long opts);

/* What a byte of the window's section was, in this step: 0 or -EFAULT. */
int model_section_byte(const struct ref_window *ref, unsigned long off,
		       u8 *value);

enum sframe_reason model_find(const struct sframe_window *window,
			      unsigned long ip,
			      struct unwind_user_frame *frame,
			      unsigned int *budget, bool nofault);

int nofault_step(struct unwind_user_state *state);

#endif
