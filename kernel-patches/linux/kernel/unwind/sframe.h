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

/* FDEs of one section. A search takes at most 25 probes. */
#define SFRAME_MAX_FDES		BIT(24)

/*
 * User memory reads and rows between two deadline checks. A step through a
 * window is charged its stack reads up front.
 */
#define SFRAME_INTERVAL		96
#define SFRAME_STACK_READS	2
#define SFRAME_PROBE_READS	16

/*
 * Reads and rows of one frame, in a table of 10,000 functions with 16 rows
 * each: 14 probes of the search, 16 rows, 3 other reads of the table, the
 * stack, and 2 to spare.
 */
#define SFRAME_FRAME_BUDGET	(14 + 16 + 3 + SFRAME_STACK_READS + 2)

/*
 * Budget of one walk: enough for @frames, or for perf's default of 127 if that
 * is more. A deferred walk may also scan one function of the maximum length.
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
 * @bias:	added to each function start; unvalidated
 * @untag:	added to @start to remove its tag; included in @bias
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
 * @repeat:	rules repeat every @repeat bytes, unless 0
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
 * @rep_size:	rows repeat every @rep_size bytes, unless 0
 * @flex:	rows are of the FLEX type
 * @signal:	the caller's address is exact, not one after a call
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
 * @section:	its table; for SFRAME_FORMAT_V3 also where the FDEs are
 * @packed:	where its rules are, for SFRAME_FORMAT_PACKED
 * @copied:	@packed is a checked copy in kernel memory
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
	bool			copied;
};

/*
 * Counts of refused steps. Samples on several CPUs may lose updates: the counts
 * are hints for authors of tables and must cost nothing.
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
 * @keys:	by key, the windows whose key is no address of their text
 * @objcg:	charged for the nodes of the trees, or NULL
 * @nr:		number of windows
 * @nr_keys:	how many of them are in @keys
 * @seq:	counts changes, see sframe_changed()
 * @counters:	written by walkers, on cache lines of their own
 */
struct sframe_registry {
	struct mutex		lock;	/* for changes */
	struct maple_tree	text;
	struct maple_tree	keys;
	struct obj_cgroup	*objcg;
	unsigned int		nr;
	unsigned int		nr_keys;
	u64			seq;
	struct sframe_counters	counters ____cacheline_aligned_in_smp;
};

/*
 * Pairs with the release in sframe_registry_get(). The registry stays, since
 * the mm is in use.
 */
static inline struct sframe_registry *sframe_registry_of(struct mm_struct *mm)
{
	/* A registry is initialised before it is published. */
	return smp_load_acquire(&mm->sframe);
}

/**
 * struct sframe_range - addresses with the same look-up result
 * @window:	window that covers them, or NULL
 * @first:	first address
 * @last:	last address
 * @bias:	address of file offset 0, if @window belongs to a file
 */
struct sframe_range {
	struct sframe_window	*window;
	unsigned long		first;
	unsigned long		last;
	unsigned long		bias;
};

struct unwind_user_caller;

struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip);

/* For walks of address spaces without a registry. */
extern struct sframe_registry sframe_no_windows;

#ifdef CONFIG_UNWIND_USER_SFRAME_FILES
/* Counts the tables that were removed. */
extern u64 sframe_files_seq;

void sframe_file_lookup(struct sframe_range *range, unsigned long ip);

static inline u64 sframe_read_files_seq(void)
{
	/* A later look-up cannot find a table whose removal was counted. */
	return smp_load_acquire(&sframe_files_seq);
}
#else
static inline void sframe_file_lookup(struct sframe_range *range,
				      unsigned long ip)
{
}

static inline u64 sframe_read_files_seq(void)
{
	return 0;
}
#endif

struct seq_file;
void sframe_show_reasons(struct seq_file *m, const struct sframe_registry *reg);

struct sframe_window *sframe_window_alloc(const struct sframe_window *draft);
void sframe_window_free(struct sframe_window *window);
size_t sframe_registry_bytes(const struct sframe_registry *reg);
int sframe_register(struct sframe_window *window, bool replace);
int sframe_unregister(unsigned long key);
int sframe_window_limit(void);
int sframe_copy_opts(void *opts, size_t ksize, size_t least,
		     const void __user *uopts);

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
 * Frame pointer steps take as long as without windows. Their time does not
 * count: the deadline is extended by it.
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
 * If a call is the last instruction of a function or row, its return address
 * belongs to the next one. So look up the call.
 */
static inline unsigned long
sframe_lookup_ip(const struct unwind_user_state *state)
{
	return state->exact_ip ? state->ip : state->ip - 1;
}

/*
 * Is the registry unchanged since the walk's look-up? Then all data read before
 * this call came from the window's section.
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
 * Switch to the range of @ip, if the walk has kept it. Stacks often alternate
 * between two ranges.
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
	kept->bias = walk->bias;
	walk->window = range.window;
	walk->first = range.first;
	walk->length = range.length;
	walk->bias = range.bias;
	return true;
}

/* Does the walk have a range for @ip that no change has invalidated? */
static __always_inline bool sframe_have_range(struct sframe_walk *walk,
					      unsigned long ip)
{
	return READ_ONCE(walk->reg->seq) == walk->seq &&
	       sframe_read_files_seq() == walk->files_seq &&
	       (likely(sframe_in_range(walk, ip)) ||
		sframe_swap_range(walk, ip));
}

#endif /* _KERNEL_UNWIND_SFRAME_H */
