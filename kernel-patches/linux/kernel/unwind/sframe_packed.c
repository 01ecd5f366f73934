// SPDX-License-Identifier: GPL-2.0
/*
 * Step through a window with a packed table: read the index entry of the
 * bucket, its block, and a rule. There is no search, and no cache between
 * walks.
 *
 * User space owns the table: it may be malformed and may change at any time. So
 * read each byte once, then check its bounds, then use it. The bounds come from
 * the header, which is read once, at registration. Offsets are computed from
 * 32-bit values: a CPU that speculates past a bounds check gets no further than
 * unwind_user_table_ptr() allows for.
 *
 * The table of a file is a copy in kernel memory, which was checked as a whole.
 * Functions are specialised for it by @copied, and only check the bounds of the
 * address.
 *
 * User space publishes what it has written by storing an index entry with
 * release semantics. The addresses of block and rule depend on the entry, which
 * orders the loads.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
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
 * Reads that a look-up is charged, besides those of the stack: entry, block and
 * rule. Each further word of changes costs one more. Reads of a copy are free:
 * unlike user memory, it is never slow.
 */
#define SFRAME_PACKED_READS	3
#define SFRAME_PACKED_STEP	(SFRAME_STACK_READS + SFRAME_PACKED_READS)
#define SFRAME_COPIED_STEP	SFRAME_STACK_READS

static int sframe_check_packed(const struct sframe_packed_header *header)
{
	if (header->magic != SFRAME_PACKED_MAGIC ||
	    header->version != SFRAME_PACKED_VERSION)
		return -EINVAL;

	/* Rules depend on the architecture's registers and instructions. */
	if (header->abi_arch != UNWIND_USER_SFRAME_ABI ||
	    header->unit_shift != UNWIND_USER_SFRAME_UNIT_SHIFT ||
	    header->repeat % SFRAME_PACKED_UNIT ||
	    header->text_start % SFRAME_PACKED_UNIT)
		return -EINVAL;

	/* Rule 0 must exist: a zeroed index entry refers to it. */
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

/* @addr is the user address of the table or, for a copy, its kernel address. */
static int sframe_fill_packed(struct sframe_packed *packed,
			      const struct sframe_packed_header *header,
			      unsigned long addr, unsigned long len,
			      unsigned long bias)
{
	u64 index, blocks;
	int ret;

	ret = sframe_check_packed(header);
	if (ret)
		return ret;
	index = sizeof(*header) +
		header->nr_rules * sizeof(struct sframe_packed_rule);
	blocks = index + (u64)sframe_packed_buckets(header) * sizeof(u32);
	if (blocks + header->blocks_len + SFRAME_PACKED_PAD > len)
		return -EINVAL;

	packed->rules = addr + sizeof(*header);
	packed->index = addr + index;
	packed->blocks = addr + blocks;
	packed->text_start = header->text_start + bias;
	packed->text_length = header->text_length;
	packed->blocks_len = header->blocks_len;
	packed->nr_rules = header->nr_rules;
	packed->repeat = header->repeat;
	return 0;
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
	int ret;

	/* Aligned, an entry takes one load, and a rule one cache line. */
	if (!IS_ALIGNED(addr, SFRAME_PACKED_ALIGN))
		return -EINVAL;
	ret = sframe_check_range(addr, len, sizeof(header));
	if (ret)
		return ret;
	if (copy_from_user(&header, (void __user *)addr, sizeof(header)))
		return -EFAULT;
	return sframe_fill_packed(packed, &header, addr, len, bias);
}

/*
 * *@val = the data at @ptr in a table. A copy is in kernel memory, so a plain
 * load does.
 */
#define sframe_table_get(state, val, ptr, copied)			\
({									\
	bool __read = true;						\
									\
	if (copied)							\
		__builtin_memcpy(val, (const void __force *)(ptr),	\
				 sizeof(*(val)));			\
	else								\
		__read = unwind_user_get(state, val, ptr);		\
	__read;								\
})

static __always_inline const void __user *
sframe_table_ptr(unsigned long addr, const bool copied)
{
	return copied ? (const void __user *)addr : unwind_user_table_ptr(addr);
}

#define SFRAME_EACH_BYTE	(~0ULL / U8_MAX)
#define SFRAME_TOP_BITS		(SFRAME_EACH_BYTE << 7)

#ifdef __BIG_ENDIAN
#define SFRAME_FIRST_BYTE	56
#else
#define SFRAME_FIRST_BYTE	0
#endif

/*
 * Mark each byte of a word that is greater than @key, by its bit 7: the sum of
 * the byte and 255 - @key overflows, so their mean is at least 128. Do not
 * branch: the position of a change is unpredictable.
 */
static __always_inline u64 sframe_bytes_above(u64 word, u8 key)
{
	const u64 other = (u8)~key * SFRAME_EACH_BYTE;

	return ((word & other) +
		(((word ^ other) >> 1) & ~SFRAME_TOP_BITS)) & SFRAME_TOP_BITS;
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

static __always_inline bool
sframe_block_fits(const struct sframe_packed *packed, u32 off, u8 nr, bool wide)
{
	return 1 + nr + ((nr + 1U) << wide) <= packed->blocks_len - off;
}

/*
 * Find the rule id of @unit in the block of @entry. The first word holds the
 * number of changes and the first seven of them. If the changes do not
 * increase, the scan may stop early. The last word may reach past the changes,
 * into ids, other blocks or the padding of the table: ignore those bytes. A
 * block is shorter than a page, so masking its address once is enough.
 */
static __always_inline enum sframe_reason
sframe_read_block(struct unwind_user_state *state,
		  const struct sframe_packed *packed, u32 entry, u8 unit,
		  u32 *id, const bool copied)
{
	const bool wide = entry & SFRAME_PACKED_WIDE;
	const u32 off = SFRAME_PACKED_OFFSET(entry);
	const u8 __user *at, *end;
	u64 word, above;
	u16 half;
	u8 nr, byte;

	if (!copied && off >= packed->blocks_len)
		return SFRAME_REASON_FRE_OFFSET;
	at = sframe_table_ptr(packed->blocks + off, copied);
	if (!sframe_table_get(state, &word, at, copied))
		return SFRAME_REASON_SECTION_FAULT;
	nr = word >> SFRAME_FIRST_BYTE;
	if (!copied && !sframe_block_fits(packed, off, nr, wide))
		return SFRAME_REASON_FRE_OFFSET;

	/* Clear the number: 0 is never above @unit and counts as a change. */
	word &= ~((u64)U8_MAX << SFRAME_FIRST_BYTE);
	end = at + 1 + nr;
	while (!(above = sframe_bytes_above(word, unit))) {
		at += sizeof(word);
		if (at >= end)
			break;
		if (!copied)
			state->sframe.slack--;
		if (!sframe_table_get(state, &word, at, copied))
			return SFRAME_REASON_SECTION_FAULT;
	}
	if (above)
		at += sframe_bytes_before(above);
	if (at > end)
		at = end;

	/* Ids begin at @end. Skip one for each change before @at. */
	if (wide) {
		if (!sframe_table_get(state, &half, at + (at - end) + 2 * nr,
				      copied))
			return SFRAME_REASON_SECTION_FAULT;
		*id = half;
	} else {
		if (!sframe_table_get(state, &byte, at + nr, copied))
			return SFRAME_REASON_SECTION_FAULT;
		*id = byte;
	}
	return SFRAME_REASON_NONE;
}

/*
 * A rule, which takes two loads and one mask. The rule number is cut to 16 bits
 * before it is used.
 */
union sframe_packed_load {
	u64				load[2];
	struct sframe_packed_rule	rule;
};

static __always_inline bool
sframe_load_rule(struct unwind_user_state *state,
		 const struct sframe_packed *packed, u16 id,
		 union sframe_packed_load *rule, const bool copied)
{
	const u64 __user *at = sframe_table_ptr(packed->rules +
						id * sizeof(rule->rule),
						copied);

	return sframe_table_get(state, &rule->load[0], at, copied) &&
	       sframe_table_get(state, &rule->load[1], at + 1, copied);
}

/* Where the rule of @offset is: rules may repeat. */
static __always_inline u32
sframe_rule_offset(const struct sframe_packed *packed, u32 offset)
{
	return packed->repeat ? offset % packed->repeat : offset;
}

/*
 * Read the rule at @offset, see sframe_rule_offset(). User space controls it, and
 * so what a CPU that speculates past a bounds check would read beyond a copy.
 */
static __always_inline enum sframe_reason
sframe_find_rule(struct unwind_user_state *state,
		 const struct sframe_packed *packed, u32 offset,
		 union sframe_packed_load *rule, u32 *id, const bool copied)
{
	enum sframe_reason reason;
	const void __user *at;
	u32 unit, entry;

	unit = offset >> UNWIND_USER_SFRAME_UNIT_SHIFT;
	at = sframe_table_ptr(packed->index + (unit >> SFRAME_PACKED_BUCKET_SHIFT) *
			      sizeof(entry), copied);
	if (!sframe_table_get(state, &entry, at, copied))
		return SFRAME_REASON_SECTION_FAULT;
	*id = entry;
	if (entry & SFRAME_PACKED_BLOCK) {
		reason = sframe_read_block(state, packed, entry, unit, id,
					   copied);
		if (reason)
			return reason;
	}
	if (!copied && *id >= packed->nr_rules)
		return SFRAME_REASON_FRE_OFFSET;
	return sframe_load_rule(state, packed, *id, rule, copied) ?
	       SFRAME_REASON_NONE : SFRAME_REASON_SECTION_FAULT;
}

/* Are the rule's flags for signed RAs valid on this machine? */
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
	sframe_set_rule(&frame->fp, rule->kind & SFRAME_PACKED_FP_SAVED ?
			UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF :
			UNWIND_USER_FROM_NONE, rule->fp_off);
	frame->third = rule->third;
	frame->sp_off = UNWIND_USER_SFRAME_SP_OFF;
}

/* Return: false if the place is invalid. */
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

/* The addend is stored in the slot of the next rule. */
static __always_inline enum sframe_reason
sframe_read_addend(struct unwind_user_state *state,
		   const struct sframe_packed *packed, u32 id, s32 *addend,
		   const bool copied)
{
	union sframe_packed_load next;

	if (id >= packed->nr_rules)
		return SFRAME_REASON_FRE_OFFSET;
	if (!sframe_load_rule(state, packed, id, &next, copied))
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
		   struct unwind_user_frame *frame, const bool copied)
{
	if (!sframe_place(rule->cfa, rule->cfa_off, &frame->cfa) ||
	    !sframe_place(rule->ra, rule->ra_off, &frame->ra) ||
	    !sframe_place(rule->fp, rule->fp_off, &frame->fp))
		return SFRAME_REASON_ROW_RULE;
	/* The CFA is based on a register, and a stack address is not code. */
	if (!(rule->cfa & SFRAME_PACKED_REG) ||
	    frame->ra.from == UNWIND_USER_FROM_CFA)
		return SFRAME_REASON_ROW_RULE;
	if (frame->ra.from == UNWIND_USER_FROM_NONE) {
		/* No place means the link register, if there is one. */
		if (UNWIND_USER_SFRAME_RA_OFF)
			return SFRAME_REASON_ROW_RULE;
		frame->ra.from = UNWIND_USER_FROM_LR;
	}
	if (rule->kind & SFRAME_PACKED_FP_SAVED)
		return SFRAME_REASON_ROW_RULE;
	if (!(rule->kind & SFRAME_PACKED_HAS_ADDEND))
		return SFRAME_REASON_NONE;
	/* Without a load, cfa_off could include the addend. */
	if (!(rule->cfa & SFRAME_PACKED_LOAD))
		return SFRAME_REASON_ROW_RULE;
	return sframe_read_addend(state, packed, id + 1, &frame->cfa_addend,
				  copied);
}

/* Fill @frame from a rule. */
static __always_inline enum sframe_reason
sframe_packed_frame(struct unwind_user_state *state,
		    const struct sframe_packed *packed,
		    const struct sframe_packed_rule *rule, u32 id,
		    struct unwind_user_frame *frame, const bool copied)
{
	enum sframe_reason reason = SFRAME_REASON_NONE;

	sframe_init_frame(frame);
	/* These kinds have no flags, unlike PLAIN and RULES below. */
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
		reason = sframe_place_rules(state, packed, rule, id, frame,
					    copied);
		break;
	default:
		return SFRAME_REASON_ROW_RULE;
	}
	if (!reason && rule->kind & SFRAME_PACKED_EXACT)
		sframe_signal_rules(frame);
	return reason;
}

/* Does rule @id exist, and can a step follow it? */
static bool sframe_check_rule(struct unwind_user_state *state,
			      const struct sframe_packed *packed, u32 id)
{
	union sframe_packed_load rule;
	enum sframe_reason reason;

	if (id >= packed->nr_rules)
		return false;
	sframe_load_rule(state, packed, id, &rule, true);
	reason = sframe_packed_frame(state, packed, &rule.rule, id,
				     &state->sframe.frame, true);
	return !reason || reason == SFRAME_REASON_NO_ROW;
}

static bool sframe_check_block(struct unwind_user_state *state,
			       const struct sframe_packed *packed, u32 entry)
{
	const bool wide = entry & SFRAME_PACKED_WIDE;
	const u32 off = SFRAME_PACKED_OFFSET(entry);
	const u8 *change, *ids;
	unsigned int i;
	u16 id = 0;
	u8 nr;

	if (off >= packed->blocks_len)
		return false;
	change = (const u8 *)packed->blocks + off;
	nr = *change++;
	if (!sframe_block_fits(packed, off, nr, wide))
		return false;
	for (i = 1; i < nr; i++)
		if (change[i] <= change[i - 1])
			return false;
	ids = change + nr;
	for (i = 0; i <= nr; i++) {
		if (wide)
			memcpy(&id, ids + i * sizeof(id), sizeof(id));
		else
			id = ids[i];
		if (!sframe_check_rule(state, packed, id))
			return false;
	}
	return true;
}

static bool sframe_check_entry(struct unwind_user_state *state,
			       const struct sframe_packed *packed, u32 entry)
{
	if (entry & SFRAME_PACKED_BLOCK)
		return sframe_check_block(state, packed, entry);
	return sframe_check_rule(state, packed, entry);
}

/**
 * sframe_check_copy - check a packed table that was copied
 * @packed:	filled from its header
 * @table:	the copy, in kernel memory
 * @len:	its length
 * @bias:	added to the start of the text
 *
 * After this, steps trust the copy: the number of each rule that an address can
 * lead to, and the contents of the rule.
 *
 * Context: Process context, may sleep. Stops at a fatal signal: may take long.
 * Return: 0, -EINVAL or -EINTR.
 */
int sframe_check_copy(struct sframe_packed *packed, const void *table,
		      unsigned long len, unsigned long bias)
{
	struct unwind_user_state state = {};
	const u32 *index;
	u32 i, nr;
	int ret;

	if (len < sizeof(struct sframe_packed_header))
		return -EINVAL;
	ret = sframe_fill_packed(packed, table, (unsigned long)table, len, bias);
	if (ret)
		return ret;

	index = (const u32 *)packed->index;
	nr = sframe_packed_buckets(table);
	for (i = 0; i < nr; i++) {
		if (!sframe_check_entry(&state, packed, index[i]))
			return -EINVAL;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static __always_inline enum sframe_reason
sframe_read_rules(struct unwind_user_state *state,
		  const struct sframe_packed *packed, unsigned long ip,
		  const bool copied)
{
	unsigned long offset = ip - packed->text_start;
	union sframe_packed_load rule;
	enum sframe_reason reason;
	u32 id;

	if (offset >= packed->text_length)
		return SFRAME_REASON_NO_FDE;
	if (copied)
		offset = array_index_nospec(offset, packed->text_length);
	reason = sframe_find_rule(state, packed,
				  sframe_rule_offset(packed, offset), &rule,
				  &id, copied);
	if (reason)
		return reason;
	return sframe_packed_frame(state, packed, &rule.rule, id,
				   &state->sframe.frame, copied);
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
	enum sframe_reason reason;

	unwind_user_access_begin();
	if (sframe_is_copied(window)) {
		reason = sframe_read_rules(state, &window->packed,
					   ip - state->sframe.bias, true);
	} else {
		state->sframe.slack -= SFRAME_PACKED_READS;
		reason = sframe_read_rules(state, &window->packed, ip, false);
	}
	if (!reason && caller)
		reason = sframe_read_stack(state, &state->sframe.frame, caller);
	user_read_access_end();
	return reason;
}

/* Outside of windows, walks follow the frame pointer or the back chain. */
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
 * Move to the caller from a frame that is not the topmost one. Leave return
 * probes, stack switches and refusals to sframe_step(). With @text, the return
 * address is known to be text. With @sp_bound, a frame pointer led to it.
 */
static __always_inline bool
sframe_run_enter(struct unwind_user_state *state,
		 const struct unwind_user_caller *caller, bool text,
		 bool sp_bound)
{
	if (caller->sp <= state->sp || !(text || unwind_user_text(caller->ra)))
		return false;
	state->sp = caller->sp;
	state->fp = caller->fp;
	state->third = caller->third;
	if (!UNWIND_USER_FP_GIVES_SP)
		state->sp_bound = sp_bound;
	return true;
}

/* Read the caller by a PLAIN or FP rule. Fail for all others. */
static __always_inline bool
sframe_run_read(struct unwind_user_state *state,
		const struct sframe_packed_rule *rule,
		struct unwind_user_caller *caller)
{
	const u8 others = SFRAME_PACKED_EXACT | (UNWIND_USER_SFRAME_SIGNS_RA ?
			  0 : SFRAME_PACKED_MANGLED_RA | SFRAME_PACKED_KEY_B);
	struct unwind_user_frame frame __uninitialized;

	if (unlikely((rule->kind & (SFRAME_PACKED_KIND(U8_MAX) | others)) !=
		     SFRAME_PACKED_PLAIN))
		return rule->kind == SFRAME_PACKED_FP &&
		       !sframe_read_fallback(state, caller);
	sframe_plain_rule(rule, &frame);
	return !unwind_user_read_plain(state, &frame, sizeof(long), caller);
}

/*
 * Copy the position for a run of steps, so that the compiler keeps it in
 * registers; the address is where the run stores callers. No step of a run
 * starts at a topmost frame or leads to a lower stack.
 */
static __always_inline void
sframe_begin_run(struct unwind_user_state *pos,
		 const struct unwind_user_state *state)
{
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
	       const struct unwind_user_state *pos, unsigned long ip)
{
	state->ip = ip;
	state->sp = pos->sp;
	state->fp = pos->fp;
	state->third = pos->third;
	if (!UNWIND_USER_FP_GIVES_SP)
		state->sp_bound = pos->sp_bound;
}

/* Where a run is that has stored callers from @ips up to @at. */
static __always_inline unsigned long
sframe_run_ip(const struct unwind_user_state *state, const unsigned long *ips,
	      const unsigned long *at)
{
	return at == ips ? state->ip : at[-1];
}

/**
 * struct sframe_run - the part of a range that its table describes
 * @first_ra:	first return address: one after the first address
 * @length:	number of addresses
 * @skip:	offset of the first address in the text of the table
 */
struct sframe_run {
	unsigned long	first_ra;
	unsigned long	length;
	unsigned long	skip;
};

/* Leave ranges with addresses that are never text to sframe_step(). */
static __always_inline bool
sframe_run_limit(struct sframe_run *run, const struct sframe_walk *walk,
		 const bool copied)
{
	const struct sframe_packed *packed = &walk->window->packed;
	unsigned long start = packed->text_start + (copied ? walk->bias : 0);
	unsigned long first = walk->first, length = walk->length;

	if (!unwind_user_text(first) || !unwind_user_text(first + length))
		return false;
	/* Tables of files rarely repeat: leave the check out of their steps. */
	if (copied && packed->repeat)
		return false;
	if (start - first < length) {
		length -= start - first;
		first = start;
	}
	run->skip = first - start;
	if (run->skip >= packed->text_length)
		return false;
	run->first_ra = first + 1;
	run->length = min(length, packed->text_length - run->skip);
	return true;
}

/*
 * Make steps from @ip in the current range. Store callers at @ips, up to @end.
 *
 * Return: the end of what was stored.
 */
static __always_inline unsigned long *
sframe_run_range(struct unwind_user_state *pos, const struct sframe_walk *walk,
		 unsigned long ip, unsigned long *ips, const unsigned long *end,
		 const bool copied)
{
	const int cost = copied ? SFRAME_COPIED_STEP : SFRAME_PACKED_STEP;
	const struct sframe_packed *packed = &walk->window->packed;
	struct unwind_user_caller caller __uninitialized;
	union sframe_packed_load rule;
	unsigned long offset;
	struct sframe_run run;
	bool inside;
	u32 id;

	if (!sframe_run_limit(&run, walk, copied))
		return ips;
	offset = ip - run.first_ra;
	inside = offset < run.length;
	while (inside) {
		/* One condition each: gcc would compute both, and branch once. */
		if (ips == end)
			break;
		if (pos->sframe.slack < cost)
			break;
		pos->sframe.slack -= cost;
		if (copied)
			offset = array_index_nospec(offset, run.length);
		offset += run.skip;
		if (!copied)
			offset = sframe_rule_offset(packed, offset);
		if (sframe_find_rule(pos, packed, offset, &rule, &id, copied) ||
		    !sframe_run_read(pos, &rule.rule, &caller))
			break;
		offset = caller.ra - run.first_ra;
		inside = offset < run.length;
		if (!sframe_run_enter(pos, &caller, inside,
				      rule.rule.kind == SFRAME_PACKED_FP))
			break;
		*ips++ = caller.ra;
	}
	return ips;
}

/*
 * Make steps in the current range, then in those of the same kind that the walk
 * has kept. If windows change meanwhile, discard them and return 0.
 */
static __always_inline unsigned int
sframe_run_packed(struct unwind_user_state *state, unsigned long *ips,
		  unsigned int max, const bool copied)
{
	struct unwind_user_state pos __uninitialized;
	struct sframe_walk *walk = &state->sframe;
	unsigned long *at = ips, ip = state->ip;

	sframe_begin_run(&pos, state);
	unwind_user_access_begin();
	do {
		at = sframe_run_range(&pos, walk, ip, at, ips + max, copied);
		ip = sframe_run_ip(state, ips, at);
	} while (!sframe_in_range(walk, ip - 1) &&
		 sframe_swap_range(walk, ip - 1) &&
		 sframe_is_packed(walk->window) &&
		 sframe_is_copied(walk->window) == copied);
	user_read_access_end();
	walk->slack = pos.sframe.slack;

	if (!sframe_unchanged(walk))
		return 0;
	sframe_end_run(state, &pos, ip);
	return at - ips;
}

/* Not inlined: each has registers for what a step needs. */
static noinline unsigned int
sframe_run_copied(struct unwind_user_state *state, unsigned long *ips,
		  unsigned int max)
{
	return sframe_run_packed(state, ips, max, true);
}

static noinline unsigned int
sframe_run_user(struct unwind_user_state *state, unsigned long *ips,
		unsigned int max)
{
	return sframe_run_packed(state, ips, max, false);
}

/* Does the walk have budget and time left for a step by a rule? */
static bool sframe_may_run(struct sframe_walk *walk)
{
	sframe_clock_go_on(walk);
	if (walk->slack >= SFRAME_PACKED_STEP ||
	    !sframe_look(walk))
		return true;
	/* The next step checks again, and reports why the walk ends. */
	walk->slack = 0;
	return false;
}

/* Make steps by the table of the current window. */
static unsigned int sframe_run_window(struct unwind_user_state *state,
				      unsigned long *ips, unsigned int max)
{
	struct sframe_walk *walk = &state->sframe;

	if (!sframe_is_packed(walk->window) || !sframe_may_run(walk))
		return 0;
	return sframe_is_copied(walk->window) ?
	       sframe_run_copied(state, ips, max) :
	       sframe_run_user(state, ips, max);
}

/* Make steps in a range without a window. The walk is not charged for them. */
static __always_inline unsigned long *
sframe_run_beside(struct unwind_user_state *pos, const struct sframe_walk *walk,
		  unsigned long *ips, const unsigned long *end)
{
	const unsigned long first_ra = walk->first + 1, length = walk->length;
	struct unwind_user_caller caller __uninitialized;

	while (ips != end) {
		if (sframe_read_fallback(pos, &caller) ||
		    !sframe_run_enter(pos, &caller, false, true))
			break;
		*ips++ = caller.ra;
		if (caller.ra - first_ra >= length)
			break;
	}
	return ips;
}

/* Make steps outside of windows, in all ranges that the walk has kept. */
static __always_inline unsigned int
sframe_run_fallback(struct unwind_user_state *state, unsigned long *ips,
		    unsigned int max)
{
	struct unwind_user_state pos __uninitialized;
	struct sframe_walk *walk = &state->sframe;
	unsigned long *at = ips, ip;

	sframe_begin_run(&pos, state);
	do {
		at = sframe_run_beside(&pos, walk, at, ips + max);
		ip = sframe_run_ip(state, ips, at);
	} while (!sframe_in_range(walk, ip - 1) &&
		 sframe_swap_range(walk, ip - 1) && !walk->window);
	sframe_end_run(state, &pos, ip);
	return at - ips;
}

/**
 * sframe_steps - make several steps in packed tables or outside of windows
 * @state:	position of the walk, not in its topmost frame
 * @ips:	filled with the addresses of callers
 * @max:	maximum number of steps
 *
 * Make up to SFRAME_STEPS steps in one access section. They continue in ranges of
 * the same kind, if the walk has kept them. If a step is not possible here,
 * sframe_step() makes it or reports why not. Tasks with return probes are left to
 * sframe_step(), too.
 *
 * Context: as sframe_step().
 * Return: number of steps made, possibly 0.
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
		return sframe_run_window(state, ips, max);

	sframe_clock_stop(walk);
	unwind_user_access_begin();
	nr = sframe_run_fallback(state, ips, max);
	user_read_access_end();
	return nr;
}
