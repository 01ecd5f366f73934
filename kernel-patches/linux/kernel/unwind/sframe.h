/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SFrame windows: what the registry, the decoder and the walkers share.
 */
#ifndef _KERNEL_UNWIND_SFRAME_H
#define _KERNEL_UNWIND_SFRAME_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/maple_tree.h>
#include <linux/minmax.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched/clock.h>
#include <linux/unwind_user_types.h>
#include <uapi/linux/sframe.h>

#include "reason.h"

/* FDEs of one section; 25 probes reach each. */
#define SFRAME_MAX_FDES		BIT(24)

/*
 * Reads of user memory and rows between two looks at the clock. Each step through
 * a window begins with what it reads of the stack.
 */
#define SFRAME_INTERVAL		64
#define SFRAME_STACK_READS	2
#define SFRAME_PROBE_READS	16

/*
 * Reads and rows of one frame, in a table of 10,000 functions with 16 rows
 * each: 14 probes of a search, 16 rows, three for what is around them, and the
 * stack; and a few more for a search that has to guess.
 */
#define SFRAME_FRAME_BUDGET	(14 + 16 + 3 + SFRAME_STACK_READS + 2)

/*
 * Of one walk: what so many frames take, but not less than for the 127 that perf
 * asks for by default. A deferred walk may meet the longest function there is.
 */
#define SFRAME_MIN_FRAMES	127U
#define SFRAME_LONGEST_FDE	U16_MAX

static inline int sframe_walk_budget(unsigned int frames, bool sample)
{
	int budget = max(frames, SFRAME_MIN_FRAMES) * SFRAME_FRAME_BUDGET;

	return sample ? budget : budget + SFRAME_LONGEST_FDE;
}

/**
 * struct sframe_section - the header of a section, checked at registration
 * @start:	user address of the section
 * @length:	bytes registered; producers may pad
 * @fdes:	user address of the FDE index
 * @fres:	user address of the FRE area
 * @fres_end:	its end
 * @bias:	added to the starts of functions, which any number may be
 * @untag:	added to @start to take off its tag; part of @bias
 * @num_fdes:	entries in the index
 */
struct sframe_section {
	unsigned long		start;
	unsigned long		length;
	unsigned long		fdes;
	unsigned long		fres;
	unsigned long		fres_end;
	unsigned long		bias;
	unsigned long		untag;
	u32			num_fdes;
};

/**
 * struct sframe_packed - a packed table, from its header
 * @rules:	user address of the rules
 * @index:	user address of the index
 * @blocks:	user address of the blocks
 * @text_start:	first address of the code that it describes
 * @text_length: bytes of code; the index has entries for all of it
 * @blocks_len:	bytes of blocks
 * @nr_rules:	number of rules
 * @repeat:	rules repeat every so many bytes, or 0
 */
struct sframe_packed {
	unsigned long		rules;
	unsigned long		index;
	unsigned long		blocks;
	unsigned long		text_start;
	u32			text_length;
	u32			blocks_len;
	u16			nr_rules;
	u8			repeat;
};

/**
 * struct sframe_func - a function, from its FDE and the attributes of its rows
 * @start:	its first address
 * @rows:	user address of its rows
 * @size:	bytes of text
 * @nr_rows:	number of rows
 * @fre_type:	bytes of a row's start are 1 << @fre_type
 * @rep_size:	bytes of a block for which the rows are repeated, or 0
 * @flex:	rows are of the FLEX type
 * @signal:	the address of its caller does not follow a call
 */
struct sframe_func {
	unsigned long		start;
	unsigned long		rows;
	u32			size;
	u16			nr_rows;
	u8			fre_type;
	u8			rep_size;
	bool			flex;
	bool			signal;
};

/**
 * struct sframe_window - one registered window; immutable once published
 * @refs:	one for each registry that holds the window
 * @rcu:	frees the window
 * @key:	name chosen by user space
 * @text_start:	first address covered
 * @text_end:	first address after it
 * @format:	SFRAME_FORMAT_*
 * @section:	where its FDEs are, if it has any
 * @packed:	where its rules are, if it has a packed table
 */
struct sframe_window {
	refcount_t		refs;
	struct rcu_head		rcu;
	unsigned long		key;
	unsigned long		text_start;
	unsigned long		text_end;
	u32			format;
	struct sframe_section	section;
	struct sframe_packed	packed;
};

/*
 * Refused steps. Samples on several CPUs may lose each other's updates: the
 * counters are hints for a table's author and must cost nothing.
 */
struct sframe_counters {
	u64			refused[SFRAME_NR_REASONS];
	u64			last_ip;
	u32			last_reason;
};

/**
 * struct sframe_registry - the windows of one address space
 * @lock:	serialises changes; taken inside mmap_lock. No user memory is
 *		touched under it, since a page fault takes mmap_lock.
 * @text:	windows by text range, read under RCU
 * @keys:	windows by key
 * @objcg:	charged for the nodes of the trees, or NULL
 * @nr:		number of windows
 * @seq:	counts changes, see sframe_changed()
 * @counters:	written by walkers, on cache lines of their own
 */
struct sframe_registry {
	struct mutex		lock;	/* for changes */
	struct maple_tree	text;
	struct maple_tree	keys;
	struct obj_cgroup	*objcg;
	unsigned int		nr;
	u64			seq;
	struct sframe_counters	counters ____cacheline_aligned_in_smp;
};

/*
 * Pairs with the release in sframe_registry_get(). The mm is in use, so what is
 * found stays.
 */
static inline struct sframe_registry *sframe_registry_of(struct mm_struct *mm)
{
	/* A registry is complete before it is seen. */
	return smp_load_acquire(&mm->sframe);
}

/**
 * struct sframe_range - addresses with the same answer
 * @window:	that covers them, or NULL
 * @first:	first address
 * @last:	last address
 */
struct sframe_range {
	struct sframe_window	*window;
	unsigned long		first;
	unsigned long		last;
};

struct unwind_user_caller;

struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip);

struct sframe_window *sframe_window_alloc(const struct sframe_window *draft);
void sframe_window_free(struct sframe_window *window);
size_t sframe_window_bytes(void);
int sframe_register(struct sframe_window *window, bool replace);
int sframe_unregister(unsigned long key);
int sframe_window_limit(void);

int sframe_check_range(unsigned long addr, unsigned long len,
		       unsigned long least);
int sframe_read_header(struct sframe_section *section, unsigned long addr,
		       unsigned long len);
int sframe_read_text_range(const struct sframe_section *section,
			   unsigned long *start, unsigned long *end);

enum sframe_reason sframe_read(struct unwind_user_state *state,
			       const struct sframe_window *window,
			       unsigned long ip, struct sframe_func *func,
			       struct unwind_user_caller *caller);
u64 sframe_walk_limit(void);
enum sframe_reason sframe_look(struct sframe_walk *walk);
void sframe_find_window(struct sframe_walk *walk, unsigned long ip);

/*
 * Steps by frame pointer take what they take without windows. Their time does
 * not count: the deadline moves on by it.
 */
static __always_inline void sframe_clock_stop(struct sframe_walk *walk)
{
	if (walk->deadline && !walk->stopped)
		walk->stopped = local_clock();
}

static __always_inline void sframe_clock_go_on(struct sframe_walk *walk)
{
	if (!walk->stopped)
		return;
	walk->deadline += local_clock() - walk->stopped;
	walk->stopped = 0;
}

/*
 * A return address may lie past its function, or in another row, if the call
 * was the last thing there: look up the call.
 */
static inline unsigned long
sframe_lookup_ip(const struct unwind_user_state *state)
{
	return state->exact_ip ? state->ip : state->ip - 1;
}

/*
 * Have no windows been changed since the walk looked them up? Then what was read
 * before this call was that of its window.
 */
static __always_inline bool sframe_unchanged(const struct sframe_walk *walk)
{
	/* See sframe_changed(). */
	smp_rmb();
	return likely(READ_ONCE(walk->reg->seq) == walk->seq);
}

static __always_inline bool sframe_in_range(const struct sframe_walk *walk,
					    unsigned long ip)
{
	return ip - walk->first < walk->length;
}

/*
 * Go back to the range of @ip, if the walk was there before and keeps it. Stacks
 * often go to and fro between two.
 */
static __always_inline bool sframe_swap_range(struct sframe_walk *walk,
					      unsigned long ip)
{
	struct sframe_kept_range range, *kept = walk->kept;

	while (ip - kept->first >= kept->length)
		if (++kept == walk->kept + SFRAME_KEPT_RANGES)
			return false;
	range = *kept;
	kept->window = walk->window;
	kept->first = walk->first;
	kept->length = walk->length;
	walk->window = range.window;
	walk->first = range.first;
	walk->length = range.length;
	return true;
}

/* Is the walk in the range of @ip now, with nothing changed since the look-up? */
static __always_inline bool sframe_have_range(struct sframe_walk *walk,
					      unsigned long ip)
{
	return READ_ONCE(walk->reg->seq) == walk->seq &&
	       (likely(sframe_in_range(walk, ip)) ||
		sframe_swap_range(walk, ip));
}

#endif /* _KERNEL_UNWIND_SFRAME_H */
