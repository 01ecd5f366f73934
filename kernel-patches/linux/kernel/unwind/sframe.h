/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SFrame windows: what the registry, the decoder and the walkers share.
 */
#ifndef _KERNEL_UNWIND_SFRAME_H
#define _KERNEL_UNWIND_SFRAME_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/maple_tree.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/unwind_user_types.h>
#include <uapi/linux/sframe.h>

/* Rows looked at in one step; producers split functions with more. */
#define SFRAME_STEP_ROWS	64

/* FDEs of one section; 25 probes reach each. */
#define SFRAME_MAX_FDES		BIT(24)

/**
 * struct sframe_section - the header of a section, checked at registration
 * @start:	user address of the section
 * @length:	bytes registered; producers may pad
 * @fdes:	user address of the FDE index
 * @fres:	user address of the FRE area
 * @fres_end:	its end
 * @num_fdes:	entries in the index, or that it has space for
 * @ra_off:	offset of the return address from the CFA
 * @live:	num_fdes in the header counts up while entries are appended
 */
struct sframe_section {
	unsigned long		start;
	unsigned long		length;
	unsigned long		fdes;
	unsigned long		fres;
	unsigned long		fres_end;
	u32			num_fdes;
	s8			ra_off;
	bool			live;
};

/**
 * struct sframe_window - one registered window; immutable once published
 * @refs:	one for each registry that holds the window and one for each
 *		walker that may sleep while it uses the window
 * @rcu:	frees the window
 * @key:	name chosen by user space
 * @text_start:	first address covered
 * @text_end:	first address behind
 * @section:	where its FDEs are
 */
struct sframe_window {
	refcount_t		refs;
	struct rcu_head		rcu;
	unsigned long		key;
	unsigned long		text_start;
	unsigned long		text_end;
	struct sframe_section	section;
};

/*
 * Why a step that found a window produced no frame. /proc/<pid>/sframe has a
 * name for each.
 */
enum sframe_reason {
	SFRAME_REASON_NONE,		/* a frame was produced */
	SFRAME_REASON_SECTION_FAULT,	/* section byte not readable */
	SFRAME_REASON_STACK_FAULT,	/* stack word not readable */
	SFRAME_REASON_NO_FDE,		/* no FDE covers the address */
	SFRAME_REASON_NO_ROW,		/* no row covers the address */
	SFRAME_REASON_FDE_ORDER,	/* FDEs are not sorted */
	SFRAME_REASON_FDE_RANGE,	/* FDE leaves the window's text */
	SFRAME_REASON_FDE_TYPE,		/* unknown FDE or row type */
	SFRAME_REASON_FRE_OFFSET,	/* rows outside the section */
	SFRAME_REASON_REP_SIZE,		/* PCMASK block size is 0 */
	SFRAME_REASON_ROW_ORDER,	/* row starts do not increase */
	SFRAME_REASON_ROW_WORDS,	/* data words do not fit the type */
	SFRAME_REASON_ROW_RULE,		/* rule the format does not allow */
	SFRAME_REASON_ROW_REGISTER,	/* register not known here */
	SFRAME_REASON_ROW_COUNT,	/* too many rows in one FDE */
	SFRAME_REASON_CFA_ORDER,	/* CFA does not move up */
	SFRAME_REASON_CFA_ALIGN,	/* CFA is not word aligned */
	SFRAME_REASON_BUDGET,		/* walk looked at too many entries */
	SFRAME_REASON_CHANGED,		/* window was removed meanwhile */
	SFRAME_REASON_SIGNAL,		/* not a signal frame, or too many */
	SFRAME_NR_REASONS,
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
 * @seq:	counts removals of windows, see sframe_window_removed()
 * @counters:	written by walkers, on cache lines of their own
 */
struct sframe_registry {
	struct mutex		lock;	/* changes; inside mmap_lock */
	struct maple_tree	text;
	struct maple_tree	keys;
	struct obj_cgroup	*objcg;
	unsigned int		nr;
	unsigned int		seq;
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

struct sframe_window *sframe_lookup(struct sframe_registry *reg,
				    unsigned long ip);
void sframe_window_put(struct sframe_window *window);

int sframe_register(struct sframe_window *window, bool replace);
int sframe_unregister(unsigned long key);
int sframe_window_limit(void);
struct sframe_window *sframe_window_alloc(void);
void sframe_window_free(struct sframe_window *window);

int sframe_read_header(struct sframe_section *section, unsigned long addr,
		       unsigned long len, bool live);
int sframe_read_text_range(const struct sframe_section *section,
			   unsigned long *start, unsigned long *end);

enum sframe_reason
sframe_find_frame(const struct sframe_window *window, unsigned long ip,
		  struct unwind_user_frame *frame, unsigned int *budget);
enum sframe_reason
sframe_find_frame_nofault(const struct sframe_window *window,
			  unsigned long ip, struct unwind_user_frame *frame,
			  unsigned int *budget);

#endif /* _KERNEL_UNWIND_SFRAME_H */
