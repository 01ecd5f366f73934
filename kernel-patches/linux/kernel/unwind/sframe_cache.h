/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules that were found, by the address of a call: most stacks have been walked
 * before, but for a few frames. Of an interrupted address its row is kept. For
 * other addresses there are the windows that were looked up last.
 *
 * Each CPU has a table of its own, which one walk at a time uses, with
 * preemption disabled. What interrupts that walk and walks itself, as an NMI
 * may, does without.
 *
 * An entry is used for the address space, and as long as nothing was registered
 * or removed there. It then says what the step would find, unless user space
 * has changed a section that it said would not change, and then it says what
 * user space has published before. Live windows are not cached.
 *
 * When a CPU walks in another address space, the table is empty for it. So no
 * process finds out by the time of its own samples what others have sampled.
 */
#ifndef _KERNEL_UNWIND_SFRAME_CACHE_H
#define _KERNEL_UNWIND_SFRAME_CACHE_H

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/unwind_user_types.h>

#include "sframe.h"

/*
 * With four entries for each hash, stacks of hundreds of frames lose hardly one.
 * These are 64 kilobytes for each possible CPU, once callchains are taken.
 */
#define SFRAME_CACHE_BITS	8
#define SFRAME_CACHE_WAYS	4

/*
 * Calls come again, interrupted addresses hardly ever: what is kept for those is
 * their row, as far as it is in a block of text of so many bytes.
 */
#define SFRAME_CACHE_BLOCK	1024UL

/* Program, libraries and gaps that stacks go through. */
#define SFRAME_CACHE_RANGES	4

/**
 * struct sframe_cache_entry - the rules of a call or of a row, in a cache line
 * @ip:		address of the call; or the first one of the row, negative, so
 *		that no call has it
 * @stamp:	of the table when the entry was known to be right
 * @id:		of the window, or 0 if there is none
 * @frame:	the rules
 * @length:	number of addresses of a row, 0 for a call
 */
struct sframe_cache_entry {
	unsigned long			ip;
	u64				stamp;
	u64				id;
	struct unwind_user_frame	frame;
	u32				length;
};

/**
 * struct sframe_cache_range - what was looked up
 * @window:	that covers the range, or NULL
 * @first:	first address
 * @length:	number of addresses, 0 for an empty entry
 * @stamp:	of the table; no other makes it right again
 */
struct sframe_cache_range {
	struct sframe_window		*window;
	unsigned long			first;
	unsigned long			length;
	u64				stamp;
};

/**
 * struct sframe_cache - the table of a CPU
 * @sets:	entries, by a hash of the address
 * @ranges:	looked up last
 * @owner:	id of the registry that it is for
 * @changes:	of that registry
 * @stamp:	counts the changes of @owner and @changes
 * @owned:	@stamp when @owner changed; entries before that are empty
 * @stores:	counted, to take turns between the entries of a hash
 * @looks:	the same for ranges
 * @busy:	a walk uses it
 */
struct sframe_cache {
	struct sframe_cache_entry	sets[1 << SFRAME_CACHE_BITS]
					    [SFRAME_CACHE_WAYS];
	struct sframe_cache_range	ranges[SFRAME_CACHE_RANGES];
	u64				owner;
	u64				changes;
	u64				stamp;
	u64				owned;
	unsigned int			stores;
	unsigned int			looks;
	bool				busy;
};

const struct unwind_user_frame *
sframe_cache_find(const struct unwind_user_state *state, unsigned long ip);
const struct unwind_user_frame *
sframe_cache_again(const struct unwind_user_state *state, unsigned long ip);
void sframe_cache_store(const struct unwind_user_state *state,
			const struct unwind_user_frame *frame,
			unsigned long first, unsigned long length);
bool sframe_cache_range(struct sframe_walk *walk, unsigned long ip);
void sframe_cache_keep_range(const struct sframe_walk *walk);

/* Is nothing registered or removed since the table was renewed? */
static __always_inline bool sframe_cache_current(const struct sframe_walk *walk)
{
	return READ_ONCE(walk->reg->seq) == walk->cache->changes;
}

static __always_inline struct sframe_cache_entry *
sframe_cache_set(struct sframe_cache *cache, unsigned long ip)
{
	return cache->sets[hash_64(ip, SFRAME_CACHE_BITS)];
}

/* The rules of a call at @ip, or NULL. The table is that of the registry. */
static __always_inline const struct unwind_user_frame *
sframe_cache_frame(struct sframe_cache *cache, unsigned long ip)
{
	struct sframe_cache_entry *entry = sframe_cache_set(cache, ip);
	unsigned int i;

	for (i = 0; i < SFRAME_CACHE_WAYS; i++, entry++)
		if (entry->ip == ip && entry->stamp == cache->stamp)
			return &entry->frame;
	return NULL;
}

#endif /* _KERNEL_UNWIND_SFRAME_CACHE_H */
