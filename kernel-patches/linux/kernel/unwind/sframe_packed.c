// SPDX-License-Identifier: GPL-2.0
/*
 * Steps through a window with a packed table: the entry of the bucket, its block,
 * a rule. Nothing is searched for, and nothing kept between walks.
 *
 * The table belongs to user space, which may have made it up and may change it at
 * any time. So each byte is read once, then bounded, then used. The bounds are
 * those of the header, which is read once, at registration. What an offset is made
 * of has 32 bits: a CPU that runs ahead of a bound gets no further than
 * unwind_user_table_ptr() allows for.
 *
 * To publish what it has written, user space stores an index entry with release
 * semantics. The addresses of block and rule depend on the entry, which orders
 * the loads.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sframe.h>
#include <linux/uaccess.h>

#include "sframe_format.h"
#include "sframe_packed.h"
#include "sframe_packed_format.h"
#include "sframe_step.h"

/* Instructions start at multiples of 1 << UNIT_SHIFT bytes. */
#ifndef UNWIND_USER_SFRAME_UNIT_SHIFT
#define UNWIND_USER_SFRAME_UNIT_SHIFT	0
#endif

#define SFRAME_PACKED_UNIT	BIT(UNWIND_USER_SFRAME_UNIT_SHIFT)

/*
 * What a look-up takes of a walk, in addition to the words of the stack: entry,
 * block and rule. Each further word of changes is one more.
 */
#define SFRAME_PACKED_READS	3
#define SFRAME_PACKED_STEP	(SFRAME_STACK_READS + SFRAME_PACKED_READS)

static int sframe_check_packed(const struct sframe_packed_header *header)
{
	if (header->magic != SFRAME_PACKED_MAGIC ||
	    header->version != SFRAME_PACKED_VERSION)
		return -EINVAL;

	/* Rules are in terms of one machine's registers and instructions. */
	if (header->abi_arch != UNWIND_USER_SFRAME_ABI ||
	    header->unit_shift != UNWIND_USER_SFRAME_UNIT_SHIFT ||
	    header->repeat % SFRAME_PACKED_UNIT ||
	    header->text_start % SFRAME_PACKED_UNIT)
		return -EINVAL;

	/* Rule 0 is there: an index of zeros says that nothing is known. */
	return header->nr_rules ? 0 : -EINVAL;
}

static u32 sframe_packed_buckets(const struct sframe_packed_header *header)
{
	u32 length = header->text_length;

	if (header->repeat)
		length = min(length, (u32)header->repeat);
	return DIV_ROUND_UP((u64)length, SFRAME_PACKED_UNIT <<
			    SFRAME_PACKED_BUCKET_SHIFT);
}

/**
 * sframe_read_packed_header - read and check the header of a packed table
 * @packed:	filled from the header
 * @addr:	user address of the table
 * @len:	its length
 * @bias:	added to the start of the text
 *
 * Return: 0, -EINVAL or -EFAULT.
 */
int sframe_read_packed_header(struct sframe_packed *packed, unsigned long addr,
			      unsigned long len, unsigned long bias)
{
	struct sframe_packed_header header;
	u64 index, blocks;
	int ret;

	/* Entries are read by one load, and rules lie in one cache line. */
	if (!IS_ALIGNED(addr, SFRAME_PACKED_ALIGN))
		return -EINVAL;
	ret = sframe_check_range(addr, len, sizeof(header));
	if (ret)
		return ret;
	if (copy_from_user(&header, (void __user *)addr, sizeof(header)))
		return -EFAULT;
	ret = sframe_check_packed(&header);
	if (ret)
		return ret;

	index = sizeof(header) +
		header.nr_rules * sizeof(struct sframe_packed_rule);
	blocks = index + (u64)sframe_packed_buckets(&header) * sizeof(u32);
	if (blocks + header.blocks_len + SFRAME_PACKED_PAD > len)
		return -EINVAL;

	packed->rules = addr + sizeof(header);
	packed->index = addr + index;
	packed->blocks = addr + blocks;
	packed->text_start = header.text_start + bias;
	packed->text_length = header.text_length;
	packed->blocks_len = header.blocks_len;
	packed->nr_rules = header.nr_rules;
	packed->repeat = header.repeat;
	return 0;
}

#define SFRAME_EACH_BYTE	(~0ULL / U8_MAX)
#define SFRAME_TOP_BITS		(SFRAME_EACH_BYTE << 7)

#ifdef __BIG_ENDIAN
#define SFRAME_FIRST_BYTE	56
#else
#define SFRAME_FIRST_BYTE	0
#endif

/*
 * Mark each byte of a word that is greater than @key, in its bit 7. No branches:
 * where changes are cannot be predicted.
 */
static __always_inline u64 sframe_bytes_above(u64 word, u8 key)
{
	/* Bit 7 of the sum: the lower bits of the byte are greater. */
	u64 sum = (word & ~SFRAME_TOP_BITS) +
		  (~key & S8_MAX) * SFRAME_EACH_BYTE;

	return (key > S8_MAX ? sum & word : sum | word) & SFRAME_TOP_BITS;
}

/* How many bytes of a word precede the first marked one? */
static __always_inline unsigned int sframe_bytes_before(u64 marks)
{
#ifdef __BIG_ENDIAN
	return (64 - fls64(marks)) / 8;
#else
	return __ffs64(marks) / 8;
#endif
}

/*
 * Find the id of the rule of @unit in the block that the entry leads to. The first
 * word has the number of changes and seven of them. If they do not increase, fewer
 * may count. A word may reach past the last one, to ids, other blocks or the padding
 * of the table: such bytes do not count. One mask does for a block, which is shorter
 * than a page.
 */
static __always_inline enum sframe_reason
sframe_read_block(struct unwind_user_state *state,
		  const struct sframe_packed *packed, u32 entry, u8 unit,
		  u32 *id)
{
	const bool wide = entry & SFRAME_PACKED_WIDE;
	const u32 off = SFRAME_PACKED_OFFSET(entry);
	const u8 __user *at, *end;
	u64 word, above;
	u16 half;
	u8 nr, byte;

	if (off >= packed->blocks_len)
		return SFRAME_REASON_FRE_OFFSET;
	at = unwind_user_table_ptr(packed->blocks + off);
	if (!unwind_user_get(state, &word, (const u64 __user *)at))
		return SFRAME_REASON_SECTION_FAULT;
	nr = word >> SFRAME_FIRST_BYTE;
	if (1 + nr + ((nr + 1U) << wide) > packed->blocks_len - off)
		return SFRAME_REASON_FRE_OFFSET;

	/* No key is less than 0, so the number counts as a change. */
	word &= ~((u64)U8_MAX << SFRAME_FIRST_BYTE);
	end = at + 1 + nr;
	while (!(above = sframe_bytes_above(word, unit))) {
		at += sizeof(word);
		if (at >= end)
			break;
		state->sframe.slack--;
		if (!unwind_user_get(state, &word, (const u64 __user *)at))
			return SFRAME_REASON_SECTION_FAULT;
	}
	if (above)
		at += sframe_bytes_before(above);
	if (at > end)
		at = end;

	/* Ids begin at @end. Skip one for each change before @at. */
	if (wide) {
		if (!unwind_user_get(state, &half, (const u16 __user *)
				     (at + (at - end) + 2 * nr)))
			return SFRAME_REASON_SECTION_FAULT;
		*id = half;
	} else {
		if (!unwind_user_get(state, &byte, at + nr))
			return SFRAME_REASON_SECTION_FAULT;
		*id = byte;
	}
	return SFRAME_REASON_NONE;
}

/*
 * A rule, which two loads read; one mask does for both. The number has 16 bits
 * before it is used.
 */
union sframe_packed_load {
	u64				load[2];
	struct sframe_packed_rule	rule;
};

static __always_inline bool
sframe_load_rule(struct unwind_user_state *state,
		 const struct sframe_packed *packed, u16 id,
		 union sframe_packed_load *rule)
{
	const u64 __user *at = unwind_user_table_ptr(packed->rules +
						     id * sizeof(rule->rule));

	return unwind_user_get(state, &rule->load[0], at) &&
	       unwind_user_get(state, &rule->load[1], at + 1);
}

/* Read the rule of @ip. */
static __always_inline enum sframe_reason
sframe_find_rule(struct unwind_user_state *state,
		 const struct sframe_packed *packed, unsigned long ip,
		 union sframe_packed_load *rule, u32 *id)
{
	unsigned long offset = ip - packed->text_start;
	enum sframe_reason reason;
	u32 off = offset, unit;
	u32 entry;

	if (offset >= packed->text_length)
		return SFRAME_REASON_NO_FDE;
	if (packed->repeat)
		off %= packed->repeat;
	unit = off >> UNWIND_USER_SFRAME_UNIT_SHIFT;
	if (!sframe_get(state, &entry, packed->index +
			(unit >> SFRAME_PACKED_BUCKET_SHIFT) * sizeof(entry)))
		return SFRAME_REASON_SECTION_FAULT;
	*id = entry;
	if (entry & SFRAME_PACKED_BLOCK) {
		reason = sframe_read_block(state, packed, entry, unit, id);
		if (reason)
			return reason;
	}
	if (*id >= packed->nr_rules)
		return SFRAME_REASON_FRE_OFFSET;
	return sframe_load_rule(state, packed, *id, rule) ?
	       SFRAME_REASON_NONE : SFRAME_REASON_SECTION_FAULT;
}

/* Is that a rule whose return address this machine may have? */
static __always_inline bool sframe_may_sign(u8 kind)
{
	return UNWIND_USER_SFRAME_SIGNS_RA ||
	       !(kind & (SFRAME_PACKED_MANGLED_RA | SFRAME_PACKED_KEY_B));
}

static __always_inline void
sframe_plain_rule(const struct sframe_packed_rule *rule,
		  struct unwind_user_frame *frame)
{
	sframe_set_rule(&frame->cfa, rule->kind & SFRAME_PACKED_FROM_FP ?
			UNWIND_USER_FROM_FP : UNWIND_USER_FROM_SP,
			rule->cfa_off);
	sframe_set_rule(&frame->ra, UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,
			rule->ra_off);
	if (rule->kind & SFRAME_PACKED_FP_SAVED)
		sframe_set_rule(&frame->fp, UNWIND_USER_FROM_CFA |
				UNWIND_USER_DEREF, rule->fp_off);
	else
		sframe_set_rule(&frame->fp, UNWIND_USER_FROM_NONE, 0);
	frame->third = rule->third;
	frame->sp_off = UNWIND_USER_SFRAME_SP_OFF;
}

/* Return: false for a place that there is not. */
static __always_inline bool sframe_place(u8 place, s32 off,
					 struct unwind_user_rule *rule)
{
	const u8 regnum = SFRAME_PACKED_REGNUM(place);

	switch (place & SFRAME_PACKED_BASE) {
	case SFRAME_PACKED_NONE:
		sframe_set_rule(rule, UNWIND_USER_FROM_NONE, 0);
		return !place;
	case SFRAME_PACKED_CFA:
		sframe_set_rule(rule, UNWIND_USER_FROM_CFA, off);
		if (regnum)
			return false;
		break;
	case SFRAME_PACKED_REG:
		sframe_set_register(rule, regnum, off);
		break;
	default:
		return false;
	}
	if (place & SFRAME_PACKED_LOAD)
		rule->from |= UNWIND_USER_DEREF;
	return true;
}

/* The addend is where the next rule would be. */
static __always_inline enum sframe_reason
sframe_read_addend(struct unwind_user_state *state,
		   const struct sframe_packed *packed, u32 id, s32 *addend)
{
	union sframe_packed_load next;

	if (id >= packed->nr_rules)
		return SFRAME_REASON_FRE_OFFSET;
	if (!sframe_load_rule(state, packed, id, &next))
		return SFRAME_REASON_SECTION_FAULT;
	if (next.rule.kind != SFRAME_PACKED_ADDEND)
		return SFRAME_REASON_ROW_RULE;
	*addend = next.rule.cfa_off;
	return SFRAME_REASON_NONE;
}

static __always_inline enum sframe_reason
sframe_place_rules(struct unwind_user_state *state,
		   const struct sframe_packed *packed,
		   const struct sframe_packed_rule *rule, u32 id,
		   struct unwind_user_frame *frame)
{
	if (!sframe_place(rule->cfa, rule->cfa_off, &frame->cfa) ||
	    !sframe_place(rule->ra, rule->ra_off, &frame->ra) ||
	    !sframe_place(rule->fp, rule->fp_off, &frame->fp))
		return SFRAME_REASON_ROW_RULE;
	/* The CFA starts from a register, and a stack address is no code. */
	if (!(rule->cfa & SFRAME_PACKED_REG) ||
	    frame->ra.from == UNWIND_USER_FROM_CFA)
		return SFRAME_REASON_ROW_RULE;
	if (frame->ra.from == UNWIND_USER_FROM_NONE) {
		/* A call stores it, or it is in the link register. */
		if (UNWIND_USER_SFRAME_RA_OFF)
			return SFRAME_REASON_ROW_RULE;
		frame->ra.from = UNWIND_USER_FROM_LR;
	}
	if (rule->kind & SFRAME_PACKED_FP_SAVED)
		return SFRAME_REASON_ROW_RULE;
	if (!(rule->kind & SFRAME_PACKED_HAS_ADDEND))
		return SFRAME_REASON_NONE;
	/* An offset could say the same of what is not loaded. */
	if (!(rule->cfa & SFRAME_PACKED_LOAD))
		return SFRAME_REASON_ROW_RULE;
	return sframe_read_addend(state, packed, id + 1, &frame->cfa_addend);
}

/* Fill @frame with what a rule says. */
static __always_inline enum sframe_reason
sframe_packed_frame(struct unwind_user_state *state,
		    const struct sframe_packed *packed,
		    const struct sframe_packed_rule *rule, u32 id,
		    struct unwind_user_frame *frame)
{
	enum sframe_reason reason = SFRAME_REASON_NONE;

	sframe_init_frame(frame);
	/* Only the rules of the next two cases have flags. */
	switch (rule->kind) {
	case SFRAME_PACKED_UNKNOWN:
		return SFRAME_REASON_NO_ROW;
	case SFRAME_PACKED_SIGNAL:
		frame->kind = UNWIND_USER_FRAME_SIGNAL;
		return SFRAME_REASON_NONE;
	case SFRAME_PACKED_OUTERMOST:
		frame->kind = UNWIND_USER_FRAME_OUTERMOST;
		return SFRAME_REASON_NONE;
	case SFRAME_PACKED_FP:
		frame->kind = UNWIND_USER_FRAME_POINTER;
		return SFRAME_REASON_NONE;
	}

	if (!sframe_may_sign(rule->kind))
		return SFRAME_REASON_ROW_RULE;
	switch (SFRAME_PACKED_KIND(rule->kind)) {
	case SFRAME_PACKED_PLAIN:
		sframe_plain_rule(rule, frame);
		break;
	case SFRAME_PACKED_RULES:
		frame->kind = UNWIND_USER_FRAME_RULES;
		reason = sframe_place_rules(state, packed, rule, id, frame);
		break;
	default:
		return SFRAME_REASON_ROW_RULE;
	}
	if (!reason && rule->kind & SFRAME_PACKED_EXACT)
		sframe_signal_rules(frame);
	return reason;
}

/**
 * sframe_read_packed - read the rules of an address, and the caller's registers
 * @state:	position of the walk; its sframe.frame is filled
 * @window:	with a packed table
 * @ip:		address inside of its text
 * @caller:	filled, unless NULL or the frame pointer is to be followed
 *
 * Context: Any, with page faults disabled and nmi_uaccess_okay(); RCU.
 * Return: SFRAME_REASON_NONE, or why there is no frame.
 */
enum sframe_reason sframe_read_packed(struct unwind_user_state *state,
				      const struct sframe_window *window,
				      unsigned long ip,
				      struct unwind_user_caller *caller)
{
	struct unwind_user_frame *frame = &state->sframe.frame;
	const struct sframe_packed *packed = &window->packed;
	union sframe_packed_load rule;
	enum sframe_reason reason;
	u32 id;

	state->sframe.slack -= SFRAME_PACKED_READS;
	unwind_user_access_begin();
	reason = sframe_find_rule(state, packed, ip, &rule, &id);
	if (!reason)
		reason = sframe_packed_frame(state, packed, &rule.rule, id,
					     frame);
	if (!reason && caller)
		reason = sframe_read_stack(state, frame, caller);
	user_read_access_end();
	return reason;
}

/* Where no window is, walks follow the frame pointer or the back chain. */
static const struct unwind_user_frame sframe_fallback_frame = {
#ifdef CONFIG_HAVE_UNWIND_USER_BACKCHAIN
	ARCH_INIT_USER_BACKCHAIN_FRAME
#else
	ARCH_INIT_USER_FP_FRAME((s32)sizeof(long))
#endif
};

static __always_inline enum sframe_reason
sframe_read_fallback(struct unwind_user_state *state,
		     struct unwind_user_caller *caller)
{
	if (!IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP))
		return unwind_user_read_backchain(state, &sframe_fallback_frame,
						  caller);
	if (state->fp < state->sp)
		return SFRAME_REASON_CFA_ORDER;
	return unwind_user_read_plain(state, &sframe_fallback_frame,
				      sizeof(long), caller);
}

/*
 * Step to a caller that was read, from a frame that is not the topmost one. Return
 * probes, other stacks and what is refused are left to sframe_step().
 */
static __always_inline bool
sframe_enter_run(struct unwind_user_state *state,
		 const struct unwind_user_caller *caller, bool sp_bound)
{
	if (caller->sp <= state->sp || !unwind_user_text(caller->ra))
		return false;
	state->ip = caller->ra;
	state->sp = caller->sp;
	state->fp = caller->fp;
	state->third = caller->third;
	if (!UNWIND_USER_FP_GIVES_SP)
		state->sp_bound = sp_bound;
	return true;
}

static __always_inline bool
sframe_step_fallback(struct unwind_user_state *state)
{
	struct unwind_user_caller caller __uninitialized;

	return !sframe_read_fallback(state, &caller) &&
	       sframe_enter_run(state, &caller, true);
}

/* Step by a rule that needs two words of the stack. */
static __always_inline bool
sframe_step_rule(struct unwind_user_state *state,
		 const struct sframe_packed_rule *rule)
{
	const u8 others = SFRAME_PACKED_EXACT | (UNWIND_USER_SFRAME_SIGNS_RA ?
			  0 : SFRAME_PACKED_MANGLED_RA | SFRAME_PACKED_KEY_B);
	struct unwind_user_caller caller __uninitialized;
	struct unwind_user_frame frame __uninitialized;

	if (unlikely((rule->kind & (SFRAME_PACKED_KIND(U8_MAX) | others)) !=
		     SFRAME_PACKED_PLAIN))
		return rule->kind == SFRAME_PACKED_FP &&
		       sframe_step_fallback(state);
	sframe_plain_rule(rule, &frame);
	return !unwind_user_read_plain(state, &frame, sizeof(long), &caller) &&
	       sframe_enter_run(state, &caller, false);
}

/*
 * The position of a run of steps, which the compiler keeps in registers. None of
 * them is from a topmost frame, or leads to a lower stack.
 */
static __always_inline void
sframe_begin_run(struct unwind_user_state *pos,
		 const struct unwind_user_state *state)
{
	pos->ip = state->ip;
	pos->sp = state->sp;
	pos->fp = state->fp;
	pos->third = state->third;
	pos->sp_bound = state->sp_bound;
	pos->ws = sizeof(long);
	pos->topmost = false;
	pos->switches = UNWIND_USER_MAX_SWITCHES;
	pos->sframe.slack = state->sframe.slack;
}

static __always_inline void
sframe_end_run(struct unwind_user_state *state,
	       const struct unwind_user_state *pos)
{
	state->ip = pos->ip;
	state->sp = pos->sp;
	state->fp = pos->fp;
	state->third = pos->third;
	if (!UNWIND_USER_FP_GIVES_SP)
		state->sp_bound = pos->sp_bound;
}

/* Steps through the window, see sframe_steps(). */
static __always_inline unsigned int
sframe_run_range(struct unwind_user_state *pos, const struct sframe_walk *walk,
		 unsigned long *ips, unsigned int max)
{
	const struct sframe_packed *packed = &walk->window->packed;
	const unsigned long first = walk->first, length = walk->length;
	union sframe_packed_load rule;
	unsigned int nr = 0;
	u32 id;

	do {
		pos->sframe.slack -= SFRAME_PACKED_STEP;
		if (sframe_find_rule(pos, packed, pos->ip - 1, &rule, &id) ||
		    !sframe_step_rule(pos, &rule.rule))
			break;
		ips[nr++] = pos->ip;
	} while (nr < max && pos->sframe.slack >= SFRAME_PACKED_STEP &&
		 pos->ip - 1 - first < length);
	return nr;
}

/* The same, and go on through ranges that the walk keeps. */
static __always_inline unsigned int
sframe_run_packed(struct unwind_user_state *pos, struct sframe_walk *walk,
		  unsigned long *ips, unsigned int max)
{
	unsigned int nr = 0;

	do {
		nr += sframe_run_range(pos, walk, ips + nr, max - nr);
		if (sframe_in_range(walk, pos->ip - 1) ||
		    !sframe_swap_range(walk, pos->ip - 1))
			break;
	} while (nr < max && pos->sframe.slack >= SFRAME_PACKED_STEP &&
		 sframe_is_packed(walk->window));
	return nr;
}

/* The same where no window is. These steps take nothing of the walk. */
static __always_inline unsigned int
sframe_run_fallback(struct unwind_user_state *state, unsigned long *ips,
		    unsigned int max)
{
	const unsigned long first = state->sframe.first;
	const unsigned long length = state->sframe.length;
	struct unwind_user_state pos __uninitialized;
	unsigned int nr = 0;

	sframe_begin_run(&pos, state);
	do {
		if (!sframe_step_fallback(&pos))
			break;
		ips[nr++] = pos.ip;
	} while (nr < max && pos.ip - 1 - first < length);
	sframe_end_run(state, &pos);
	return nr;
}

/* Is there something left of the walk for a step by a rule? */
static bool sframe_may_run(struct sframe_walk *walk)
{
	sframe_clock_go_on(walk);
	if (walk->slack >= SFRAME_PACKED_STEP ||
	    !sframe_look(walk))
		return true;
	/* The next step looks again, and says why it ends. */
	walk->slack = 0;
	return false;
}

/* Steps, or 0 if windows were changed meanwhile: then they were not made. */
static unsigned int sframe_run_window(struct unwind_user_state *state,
				      unsigned long *ips, unsigned int max)
{
	struct unwind_user_state pos __uninitialized;
	struct sframe_walk *walk = &state->sframe;
	unsigned int nr;

	if (!sframe_may_run(walk))
		return 0;
	sframe_begin_run(&pos, state);
	unwind_user_access_begin();
	nr = sframe_run_packed(&pos, walk, ips, max);
	user_read_access_end();
	walk->slack = pos.sframe.slack;

	if (!sframe_unchanged(walk))
		return 0;
	sframe_end_run(state, &pos);
	return nr;
}

/**
 * sframe_steps - make steps through packed tables, or where no window is
 * @state:	position of the walk, not in its topmost frame
 * @ips:	filled with the addresses of callers
 * @max:	how many there may be
 *
 * One access section has them all, SFRAME_STEPS at most. Steps by frame pointer end
 * with the range of the walk. Steps through a packed table go on in other ranges with
 * packed tables, if the walk keeps them. A step that cannot be made is left to
 * sframe_step(), which says why. Not for tasks with return probes.
 *
 * Context: as sframe_step().
 * Return: how many steps were made, perhaps none.
 */
unsigned int sframe_steps(struct unwind_user_state *state, unsigned long *ips,
			  unsigned int max)
{
	struct sframe_walk *walk = &state->sframe;
	unsigned int nr;

	if (!max || state->exact_ip || state->ri)
		return 0;
	if (!sframe_have_range(walk, state->ip - 1))
		sframe_find_window(walk, state->ip - 1);
	max = min(max, SFRAME_STEPS);
	if (walk->window)
		return sframe_is_packed(walk->window) ?
		       sframe_run_window(state, ips, max) : 0;

	sframe_clock_stop(walk);
	unwind_user_access_begin();
	nr = sframe_run_fallback(state, ips, max);
	user_read_access_end();
	return nr;
}
