// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Flip each bit of a section in turn. A second reader of sections, written for
 * this test from the description of the format, computes what the table then
 * means: the walk must find exactly these frames, or end where the table is
 * wrong and count that.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "harness.h"

#include "slots.h"
#include "flip.h"

#define KEY		1
#define SECTION_MAX	512
#define TEXT_SIZE	SFT_PAGE

/* The stack that sft_onto runs on and that a walk reads. */
#define STACK_SIZE	(4 * SFT_PAGE)
/*
 * Keep the memory around it unmapped. Otherwise a walk might read memory that
 * changes before the second reader reads it, such as the event's ring buffer.
 */
#define ROOM_SIZE	(512 * SFT_PAGE)

/* Frames of a walk, the sampled address included. */
#define MAX_FP		127
#define MAX_DEFER	510
#define MAX_SIGNALS	8
#define MAX_SWITCHES	8
#define MIN_ADDR	0x1000		/* vm.mmap_min_addr */

/* ---- The table and the stack ------------------------------------------- */

#define REG_SP		SFT_REG(SFT_REGNUM_SP)
#define FP_DEREF	SFT_REG_DEREF(SFT_REGNUM_FP)

/* A frame of 16 bytes that saves the frame pointer. */
#define FRAME_FP(off, base)						\
	{ (off), (base), SFT_RA_OFF ? 2 : 3,				\
	  { SFT_SP_CFA(16), SFT_RA_OFF ? SFT_FP_FROM_CFA :		\
				SFT_RA_FROM_CFA, SFT_FP_FROM_CFA } }

static const struct sft_row sp_rows[] = {
	SFT_FRAME(0, 8), FRAME_FP(1, 1), SFT_FRAME(9, 8),
};

static const struct sft_row fp_rows[] = {
	SFT_FRAME(0, 8), FRAME_FP(1, 1), FRAME_FP(4, 0), SFT_FRAME(31, 8),
};

/* If the return address has no fixed place, the second row gives it. */
static const struct sft_row memory_rows[] = {
	SFT_FLEX(0, REG_SP, SFT_SP_CFA(8)),
#if SFT_RA_OFF
	SFT_FLEX(5, FP_DEREF, -8, 0, FP_DEREF, 0),
#else
	SFT_FLEX(5, FP_DEREF, SFT_CFA(-8), SFT_CFA_DEREF, SFT_RA_FROM_CFA,
		 FP_DEREF, 0),
#endif
	SFT_FLEX(9, SFT_REG(SFT_OTHER_REG), SFT_SP_CFA(0)),
};

static const struct sft_row slot_rows[] = {
	SFT_FRAME(0, 8), SFT_FRAME(5, 16), SFT_FRAME(9, 8),
};

static const struct sft_row moved_rows[] = {
	SFT_FLEX(0, REG_SP, SFT_SP_CFA(32), SFT_CFA_DEREF, -16,
		 SFT_CFA_DEREF, -24),
};

static const struct sft_row large_rows[] = {
	SFT_FRAME(0, 8), SFT_FRAME(4, 48),
};

static const struct sft_row last_rows[] = {
	SFT_FRAME(0, 8), SFT_OUTERMOST(4),
};

/* The same rows with words of another size. */
static const struct sft_row *with_words(struct sft_row *copy,
					const struct sft_row *rows,
					unsigned int nr, __u8 size)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		copy[i] = rows[i];
		copy[i].info |= size;
	}
	return copy;
}

/* Offsets of the functions in the text, which is never executed. */
enum {
	SP = 0x20, FP = 0x40, MEMORY = 0x60, SLOTS = 0x80, MOVED = 0xc0,
	SIGNAL = 0xe0, LARGE = 0x100, LAST = 0x120,
};

#define MAX_FDES	8

/* One function of each kind; returns their number. */
static unsigned int make_mixed(struct sft_fde *fdes, const __u8 *text)
{
	static struct sft_row fp[ARRAY_SIZE(fp_rows)];
	static struct sft_row large[ARRAY_SIZE(large_rows)];
	const struct sft_fde all[MAX_FDES] = {
		SFT_FDE(text + SP, 16, sp_rows),
		SFT_FDE(text + FP, 32, fp_rows),
		SFT_FDE(text + MEMORY, 16, memory_rows),
		SFT_FDE(text + SLOTS, 64, slot_rows),
		SFT_FDE(text + MOVED, 16, moved_rows),
		{ .start = text + SIGNAL, .size = 8,
		  .info = SFRAME_FDE_SIGNAL },
		SFT_FDE(text + LARGE, 32, large_rows),
		SFT_FDE(text + LAST, 32, last_rows),
	};

	memcpy(fdes, all, sizeof(all));
	fdes[1].rows = with_words(fp, fp_rows, ARRAY_SIZE(fp), SFT_WORD2);
	fdes[1].info = SFRAME_FRE_TYPE_ADDR2;
	fdes[2].info2 = SFRAME_FDE_TYPE_FLEX;
	fdes[3].info = SFRAME_FDE_PCMASK;
	fdes[3].rep_size = 16;
	fdes[4].info2 = SFRAME_FDE_TYPE_FLEX;
	fdes[6].rows = with_words(large, large_rows, ARRAY_SIZE(large),
				  SFT_WORD4);
	fdes[6].info = SFRAME_FRE_TYPE_ADDR4;
	return MAX_FDES;
}

/* A page of slots, as in a pool of trampolines. */
static unsigned int make_slots(struct sft_fde *fdes, const __u8 *text)
{
	*fdes = (struct sft_fde)SFT_FDE(text, TEXT_SIZE, slot_rows);
	fdes->info = SFRAME_FDE_PCMASK;
	fdes->rep_size = 16;
	return 1;
}

/* Return addresses that lie in the rows with the longest rules. */
#define AT_SP		(SP + 6)
#define AT_FP		(FP + 8)
#define AT_MEMORY	(MEMORY + 8)
#define AT_SLOT		(SLOTS + 2 * 16 + 6)
#define AT_MOVED	(MOVED + 4)
#define AT_LARGE	(LARGE + 8)
#define AT_SIGNAL	(SIGNAL + 2)
#define AT_LAST		(LAST + 6)

/* Bytes below the target of sft_onto, for its own use. */
#define FIRST		512

static void put_word(__u8 *at, __u64 word)
{
	memcpy(at, &word, sizeof(word));
}

/* A frame below @sp: its return address and saved frame pointer. */
static void put_frame(__u8 *sp, __u64 ret, const void *fp)
{
	put_word(sp + SFT_RA_FROM_SP, ret);
	put_word(sp + SFT_SAVE_AREA + SFT_FP_FROM_CFA, (uintptr_t)fp);
}

static void put_signal(__u8 *sp, __u64 ip, const void *interrupted)
{
	put_word(sp + SFT_SIGNAL_IP, ip);
	put_word(sp + SFT_SIGNAL_SP, (uintptr_t)interrupted);
	put_word(sp + SFT_SIGNAL_MODE, SFT_USER_MODE);
}

/* A stack through all of the functions, in the order of the addresses above. */
static unsigned int make_mixed_stack(__u8 *stack, const __u8 *text, __u64 *ip)
{
	const __u64 base = (uintptr_t)text;
	__u8 *sp = stack + FIRST + SFT_ONTO_SP, *interrupted = sp + 2048;
	__u8 *fp = sp + 32;

	put_word(stack + FIRST, base + AT_SP);
	sp += 16;
	put_frame(sp, base + AT_FP, fp);
	sp = fp + 16;
	/* The caller's CFA is stored 8 bytes below this frame pointer. */
	fp = sp + 16;
	put_frame(sp, base + AT_MEMORY, fp);
	sp += 48;
	put_word(fp - 8, (uintptr_t)sp + SFT_SAVE_AREA);
	put_word(sp + SFT_RA_FROM_SP, base + AT_SLOT);
	sp += 16;
	put_word(sp + SFT_RA_FROM_SP, base + AT_MOVED);
	sp += 32;
	put_word(sp + SFT_SAVE_AREA - 16, base + AT_LARGE);
	sp += 48;
	put_word(sp + SFT_RA_FROM_SP, base + AT_SIGNAL);
	put_signal(sp, base + SP + 2, interrupted);
	put_frame(interrupted + 16, base + AT_LAST, NULL);

	const __u64 true_stack[] = {
		base + AT_SP, base + AT_FP, base + AT_MEMORY, base + AT_SLOT,
		base + AT_MOVED, base + AT_LARGE, base + AT_SIGNAL,
		base + SP + 2, base + AT_LAST,
	};

	memcpy(ip, true_stack, sizeof(true_stack));
	return ARRAY_SIZE(true_stack);
}

/* Slots that call each other; the last returns outside of the window. */
static unsigned int make_slots_stack(__u8 *stack, const __u8 *text, __u64 *ip)
{
	__u8 *sp = stack + FIRST + SFT_ONTO_SP;
	unsigned int i;

	for (i = 0; i < 10; i++)
		ip[i] = (uintptr_t)text + i * 23 * 16 + 6;
	ip[i] = (uintptr_t)stack;
	put_word(stack + FIRST, ip[0]);
	for (i = 1; i <= 10; i++)
		put_word(sp + 16 * i + SFT_RA_FROM_SP, ip[i]);
	return i;
}

static const struct kind {
	unsigned int	(*fdes)(struct sft_fde *fdes, const __u8 *text);
	/* Fills @ip with the callers of sft_escape; returns their number. */
	unsigned int	(*stack)(__u8 *stack, const __u8 *text, __u64 *ip);
} mixed = { make_mixed, make_mixed_stack }, slots = {
	make_slots, make_slots_stack,
};

/* ---- The second reader ------------------------------------------------- */

/*
 * The position of a walk. A step by frame record gives only a lower bound of
 * the stack pointer; a step by back chain does not give the frame pointer.
 */
struct pos {
	__u64		ip, sp, fp, lr;
	unsigned int	signals, switches;
	bool		topmost, exact, bound, no_fp;
};

/* A section as it was registered. */
struct table {
	const __u8	*fdes, *rows, *end;
	__u32		nr;
	__u64		text, text_end;
	const __u8	*stack;
	__u64		user_end;
	int		pagemap;
	bool		defer;
};

enum step { FRAME, OUTERMOST, REFUSED, NO_CALLER, NO_WINDOW, STUCK };

/* Bit 63 of a page's entry in /proc/PID/pagemap: it is in the page table. */
static bool is_present(const struct table *t, __u64 addr)
{
	__u64 entry;

	return pread(t->pagemap, &entry, 8, addr / SFT_PAGE * 8) == 8 &&
	       entry >> 63;
}

/*
 * Load a word of the stack or of other memory; false if it is not readable. In
 * an interrupt, only pages in the page table are.
 */
static bool load(const struct table *t, __u64 addr, __u64 *val)
{
	struct iovec to = { val, 8 }, from = { (void *)addr, 8 };
	__u64 off = addr - (uintptr_t)t->stack;

	if (off <= STACK_SIZE - 8) {
		memcpy(val, (const void *)addr, 8);
		return true;
	}
	if (!t->defer && (!is_present(t, addr) || !is_present(t, addr + 7)))
		return false;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 8;
}

/* The base of a rule; with NOTHING the value stays as it is. */
enum base { NOTHING, AT_CFA, AT_VALUE, UNKNOWN };

enum from { FROM_CFA, FROM_SP, FROM_FP, FROM_LR };

struct rule {
	enum base	base;
	__u64		value;
	__s32		off;
	bool		deref;
	enum from	from;
};

/* False if the value is not known or not readable. */
static bool apply_rule(const struct table *t, const struct rule *rule,
		       __u64 cfa, __u64 *val)
{
	__u64 sum = (rule->base == AT_CFA ? cfa : rule->value) + rule->off;

	if (rule->base == NOTHING)
		return true;
	if (rule->base == UNKNOWN)
		return false;
	if (rule->deref)
		return load(t, sum, val);
	*val = sum;
	return true;
}

static struct rule rule_sp(const struct pos *pos)
{
	return (struct rule){ pos->bound ? UNKNOWN : AT_VALUE, pos->sp,
			      .from = FROM_SP };
}

static struct rule rule_fp(const struct pos *pos)
{
	return (struct rule){ pos->no_fp ? UNKNOWN : AT_VALUE, pos->fp,
			      .from = FROM_FP };
}

/* Calls overwrite it, so it is known in the topmost frame only. */
static struct rule rule_lr(const struct pos *pos)
{
	return (struct rule){ pos->topmost ? AT_VALUE : UNKNOWN, pos->lr,
			      .from = FROM_LR };
}

static struct rule saved_at(__s32 off)
{
	return (struct rule){ AT_CFA, .off = off, .deref = true };
}

#ifdef SFT_IS_CALL

/* A step may switch to a lower stack, but not to just below this one. */
static bool may_go_down(const struct pos *pos, const struct rule *cfa, __u64 sp)
{
	return (cfa->deref || cfa->from != FROM_SP) && pos->sp - sp >= 4096 &&
	       sp >= MIN_ADDR && !(sp & 7) && pos->switches < MAX_SWITCHES;
}

/* Does the address follow a call, or start a goroutine? */
static bool is_frame(const struct table *t, const struct pos *pos,
		     const struct pos *next, bool chained)
{
	__u64 words[2];

	if (chained && next->fp && next->fp <= pos->fp)
		return false;
	if (!load(t, next->ip - 8, &words[0]))
		return false;
	if (SFT_IS_CALL((__u8 *)&words[1]))
		return true;
	return chained && !next->fp && load(t, next->ip, &words[1]) &&
	       SFT_STARTS_STACK((__u8 *)&words[1]);
}

#else

static bool may_go_down(const struct pos *pos, const struct rule *cfa, __u64 sp)
{
	return false;
}

static bool is_frame(const struct table *t, const struct pos *pos,
		     const struct pos *next, bool chained)
{
	return false;
}

#endif

static enum step apply(const struct table *t, struct pos *pos,
		       const struct rule *cfa_rule, const struct rule *ra,
		       const struct rule *fp, bool chained)
{
	struct pos next = { .fp = pos->fp, .no_fp = pos->no_fp,
			    .signals = pos->signals };
	__u64 cfa = 0;
	bool down;

	if (!apply_rule(t, cfa_rule, 0, &cfa))
		return REFUSED;
	next.sp = cfa - SFT_SAVE_AREA;
	down = next.sp < pos->sp;
	if ((down && !may_go_down(pos, cfa_rule, next.sp)) ||
	    (next.sp == pos->sp && !pos->topmost) || next.sp & 7)
		return REFUSED;
	if (!apply_rule(t, ra, cfa, &next.ip) ||
	    !apply_rule(t, fp, cfa, &next.fp))
		return REFUSED;
	if (fp->base != NOTHING)
		next.no_fp = false;
	next.ip = sft_strip(next.ip);
	if (!next.ip)
		return NO_CALLER;
	if (next.ip < MIN_ADDR || next.ip >= t->user_end)
		return REFUSED;
	if (down && !is_frame(t, pos, &next, chained))
		return REFUSED;
	next.switches = pos->switches + down;
	*pos = next;
	return FRAME;
}

#ifdef SFT_BACK_CHAIN

static enum step apply_fp(const struct table *t, struct pos *pos)
{
	const struct rule cfa = {
		AT_VALUE, pos->sp, .deref = true,
	};
	const struct rule ra = saved_at(SFT_RA_FROM_CFA);
	struct rule above = { AT_VALUE };
	const struct rule fp = { NOTHING };

	if (!apply_rule(t, &cfa, 0, &above.value))
		return STUCK;
	above.off = SFT_SAVE_AREA;
	if (apply(t, pos, &above, &ra, &fp, false) || pos->ip & 1)
		return STUCK;
	pos->no_fp = true;
	return FRAME;
}

#else

static enum step apply_fp(const struct table *t, struct pos *pos)
{
	const struct rule cfa = { AT_VALUE, pos->fp, .off = 16, .from = FROM_FP };
	const struct rule ra = saved_at(-8), fp = saved_at(-16);
	/* It has rows where a step by frame pointer gives no exact sp. */
	const bool escape = pos->ip == (uintptr_t)sft_escape_body;

	enum step step;

	if (!pos->fp)
		return STUCK;
	if (pos->fp < pos->sp && pos->fp + 16 > pos->sp)
		return REFUSED;
	step = apply(t, pos, &cfa, &ra, &fp, true);
	if (step)
		return step == NO_CALLER ? STUCK : step;
	pos->bound = SFT_CALLEES && !escape;
	return FRAME;
}

#endif

/* The handler's stack pointer; if it is only a bound, from its frame record. */
static __u64 signal_sp(const struct pos *pos)
{
#ifdef SFT_SIGNAL_SIZE
	if (pos->bound)
		return pos->fp - SFT_SIGNAL_SIZE;
#endif
	return pos->sp;
}

/* Is it a signal frame, as far as the walk can tell? */
static bool is_signal(const struct table *t, const struct pos *pos,
		      const struct pos *next)
{
	__u64 fp, lr;

#ifdef SFT_SIGNAL_INSN
	__u16 insn;

	if (pos->ip - t->text > TEXT_SIZE - sizeof(insn))
		return false;
	memcpy(&insn, (const void *)pos->ip, sizeof(insn));
	if (insn != SFT_SIGNAL_INSN)
		return false;
#endif
	return !pos->bound || (load(t, pos->fp, &fp) &&
			       load(t, pos->fp + 8, &lr) &&
			       fp == next->fp && lr == next->lr);
}

static enum step apply_signal(const struct table *t, struct pos *pos)
{
	struct pos next = { .topmost = true, .exact = true,
			    .switches = pos->switches };
	const __u64 sp = signal_sp(pos);
	__u64 mode;

	next.signals = pos->signals + 1;
	if (next.signals > MAX_SIGNALS ||
	    !load(t, sp + SFT_SIGNAL_IP, &next.ip) ||
	    !load(t, sp + SFT_SIGNAL_SP, &next.sp) ||
	    !load(t, sp + SFT_SIGNAL_FP, &next.fp) ||
	    !load(t, sp + SFT_SIGNAL_MODE, &mode) || !sft_is_user_mode(mode))
		return REFUSED;
#ifdef SFT_SIGNAL_LR
	if (!load(t, sp + SFT_SIGNAL_LR, &next.lr))
		return REFUSED;
#endif
	if (!is_signal(t, pos, &next) || next.ip < MIN_ADDR ||
	    next.ip >= t->user_end)
		return REFUSED;
	*pos = next;
	return FRAME;
}

/* Reads rows byte by byte. */
struct reader {
	const __u8	*at, *end;
	bool		bad;
};

static __u32 take(struct reader *r, unsigned int size)
{
	__u32 val = 0;

	if (size > r->end - r->at) {
		r->bad = true;
		return 0;
	}
	memcpy(&val, r->at, size);
	r->at += size;
	return SFT_BIG_ENDIAN ? val >> (32 - 8 * size) : val;
}

struct row {
	unsigned int	nr, size;
	__u8		info;
	bool		signal;		/* bit of its function */
	__u32		raw[7];
	__s32		word[7];
};

static void take_row(struct reader *r, struct row *row)
{
	unsigned int i;

	row->info = take(r, 1);
	row->nr = row->info >> 1 & 15;
	row->size = 1 << (row->info >> 5 & 3);
	if (row->size > 4 || row->nr > 7)
		r->bad = true;
	for (i = 0; i < row->nr && !r->bad; i++) {
		unsigned int unused = 32 - 8 * row->size;

		row->raw[i] = take(r, row->size);
		row->word[i] = (__s32)(row->raw[i] << unused) >> unused;
	}
}

/* The last row that starts at @off or before. */
static bool find_row(struct reader *r, unsigned int nr, unsigned int size,
		     __u32 off, struct row *row)
{
	__u32 start, last = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		/* A row needs at least its start and its info byte. */
		if (r->end - r->at < size + 1)
			return false;
		start = take(r, size);
		if (i && start <= last)
			return false;
		if (start > off)
			break;
		last = start;
		take_row(r, row);
		if (r->bad)
			return false;
	}
	return i;
}

/* The offset of a CFA; false if it has more than 32 bits. */
static bool cfa_off(__s32 word, __s32 *off)
{
	const __s64 scaled = (__s64)word * SFT_CFA_SCALE + SFT_SAVE_AREA;

	*off = scaled;
	return *off == scaled;
}

/*
 * After a step by frame record, a row that also describes a frame record: the
 * frame pointer gives its address, and so the CFA.
 */
static void cfa_by_record(const struct pos *pos, const struct rule *ra,
			  const struct rule *fp, struct rule *cfa)
{
	const __u64 value = pos->fp - fp->off;

	if (ra->base != AT_CFA || fp->base != AT_CFA ||
	    ra->off != fp->off + 8 || value - cfa->off < pos->sp)
		return;
	*cfa = (struct rule){ AT_VALUE, value };
}

/* Does a call, or the function, put the return address there? */
static bool is_called(const struct rule *ra)
{
	switch (ra->from) {
	case FROM_CFA:
		return ra->off < 0;
	case FROM_FP:
		return ra->deref;
	case FROM_LR:
		return !ra->deref;
	default:
		return false;
	}
}

/*
 * With the signal bit, the caller's address is exact; or it is a signal frame,
 * if no call puts the return address there.
 */
static enum step apply_row(const struct table *t, struct pos *pos,
			   const struct row *row, const struct rule *cfa,
			   const struct rule *ra, const struct rule *fp)
{
	enum step step;

	if (row->signal && !is_called(ra))
		return apply_signal(t, pos);
	step = apply(t, pos, cfa, ra, fp, false);
	if (!step)
		pos->exact = row->signal;
	return step;
}

static enum step apply_default(const struct table *t, struct pos *pos,
			       const struct row *row)
{
	struct rule cfa = row->info & 1 ? rule_sp(pos) : rule_fp(pos);
	struct rule ra = rule_lr(pos), fp = { NOTHING };

	if (row->nr > SFT_ROW_WORDS || !cfa_off(row->word[0], &cfa.off))
		return REFUSED;
	if (SFT_RA_OFF)
		ra = saved_at(SFT_RA_OFF);
	else if (row->nr > 1 && row->word[1])
		ra = saved_at(row->word[1]);
	else if (row->nr == 2)
		return REFUSED;
	if (row->nr == SFT_ROW_WORDS)
		fp = saved_at(row->word[SFT_ROW_WORDS - 1]);
	if (row->info & 1 && pos->bound)
		cfa_by_record(pos, &ra, &fp, &cfa);
	return apply_row(t, pos, row, &cfa, &ra, &fp);
}

/* A pair of words; without a register it starts from the CFA. */
static bool flex_rule(const struct pos *pos, const struct row *row,
		      unsigned int nr, struct rule *rule)
{
	__u32 ctrl = row->raw[nr], reg = ctrl >> 3;

	if (ctrl & 4)
		return false;
	/* After calls and signals, other registers are not known. */
	if (!(ctrl & 1))
		*rule = (struct rule){ AT_CFA };
	else if (reg == SFT_REGNUM_SP)
		*rule = rule_sp(pos);
	else if (reg == SFT_REGNUM_FP)
		*rule = rule_fp(pos);
	else if (reg == SFT_REGNUM_LR)
		*rule = rule_lr(pos);
	else
		return false;
	rule->off = row->word[nr + 1];
	rule->deref = ctrl & 2;
	return true;
}

static enum step apply_flex(const struct table *t, struct pos *pos,
			    const struct row *row)
{
	bool padded = row->nr == 5 && !row->raw[2];
	struct rule cfa, ra = rule_lr(pos), fp = { NOTHING };

	if (SFT_RA_OFF)
		ra = saved_at(SFT_RA_OFF);
	if (row->nr < 2 || (row->nr % 2 && !padded))
		return REFUSED;
	if (!flex_rule(pos, row, 0, &cfa) || !(row->raw[0] & 1) ||
	    !cfa_off(row->word[1], &cfa.off))
		return REFUSED;
	if (row->nr >= 4 && !padded &&
	    (!flex_rule(pos, row, 2, &ra) || !(row->raw[2] & 3)))
		return REFUSED;
	if (row->nr >= 5 && !flex_rule(pos, row, row->nr - 2, &fp))
		return REFUSED;
	return apply_row(t, pos, row, &cfa, &ra, &fp);
}

/* Key and mark of signed return addresses are valid on some machines only. */
#ifdef SFT_SIGNED
#define UNKNOWN_INFO	0x40
#define UNKNOWN_ROW	0
#else
#define UNKNOWN_INFO	0x60
#define UNKNOWN_ROW	0x80
#endif

static enum step apply_fde(const struct table *t, struct pos *pos,
			   const struct sframe_fde *fde, __u32 off)
{
	struct reader r = { t->rows + fde->fre_off, t->end };
	unsigned int nr, info, info2, rep_size;
	struct row row = { };

	if (fde->fre_off >= t->end - t->rows)
		return REFUSED;
	nr = take(&r, 2);
	info = take(&r, 1);
	info2 = take(&r, 1);
	rep_size = take(&r, 1);
	if (r.bad || info & UNKNOWN_INFO || (info & 15) > 2 || info2 > 1 ||
	    (info & 0x10 && !rep_size))
		return REFUSED;
	row.signal = info & 0x80;
	if (row.signal && !nr)
		return apply_signal(t, pos);
	if (info & 0x10)
		off %= rep_size;
	if (!find_row(&r, nr, 1 << (info & 15), off, &row))
		return REFUSED;
	if (!row.nr)
		return OUTERMOST;
	if (row.info & UNKNOWN_ROW)
		return REFUSED;
	return info2 ? apply_flex(t, pos, &row) : apply_default(t, pos, &row);
}

static struct sframe_fde fde_at(const struct table *t, unsigned int nr,
				__u64 *start)
{
	const __u8 *at = t->fdes + nr * sizeof(struct sframe_fde);
	struct sframe_fde fde;

	memcpy(&fde, at, sizeof(fde));
	*start = (uintptr_t)at + fde.func_start;
	return fde;
}

static bool is_sorted(const struct table *t)
{
	__u64 start, last = 0;
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		fde_at(t, i, &start);
		if (start < last)
			return false;
		last = start;
	}
	return true;
}

/* Step by function @nr if it covers the address. */
static enum step step_by(const struct table *t, struct pos *pos,
			 unsigned int nr)
{
	__u64 start, ip = pos->exact ? pos->ip : pos->ip - 1;
	const struct sframe_fde fde = fde_at(t, nr, &start);

	if (ip - start >= fde.func_size)
		return NO_WINDOW;
	if (start < t->text || fde.func_size > t->text_end - start)
		return REFUSED;
	return apply_fde(t, pos, &fde, ip - start);
}

static bool in_window(const struct table *t, const struct pos *pos)
{
	__u64 ip = pos->exact ? pos->ip : pos->ip - 1;

	return ip >= t->text && ip < t->text_end;
}

/* In a sorted index, use the last one that starts at or below the address. */
static enum step step_sorted(const struct table *t, struct pos *pos)
{
	__u64 start, ip = pos->exact ? pos->ip : pos->ip - 1;
	unsigned int nr = t->nr;
	enum step step;

	while (nr) {
		fde_at(t, --nr, &start);
		if (start > ip)
			continue;
		step = step_by(t, pos, nr);
		return step == NO_WINDOW ? REFUSED : step;
	}
	return REFUSED;
}

/* ---- Comparison -------------------------------------------------------- */

struct walk {
	const struct table	*t;
	const struct sft_chain	*chain;
	unsigned int		max;
	bool			refused;
};

static bool walk_from(const struct walk *walk, unsigned int at,
		      const struct pos *pos);

/* Does the walk continue after address @at as this step says? */
static bool follows(const struct walk *walk, unsigned int at, enum step step,
		    const struct pos *next)
{
	if (step == FRAME)
		return at + 1 < walk->chain->nr &&
		       walk->chain->ip[at + 1] == next->ip &&
		       walk_from(walk, at + 1, next);
	return at + 1 == walk->chain->nr &&
	       walk->refused == (step == REFUSED || step == NO_CALLER);
}

/* An index out of order may be searched in any way, or be refused. */
static bool follows_any(const struct walk *walk, unsigned int at,
			const struct pos *pos)
{
	unsigned int i;

	for (i = 0; i < walk->t->nr; i++) {
		struct pos next = *pos;
		enum step step = step_by(walk->t, &next, i);

		if (step != NO_WINDOW && follows(walk, at, step, &next))
			return true;
	}
	return follows(walk, at, REFUSED, NULL);
}

static bool walk_from(const struct walk *walk, unsigned int at,
		      const struct pos *pos)
{
	struct pos next = *pos;
	enum step step;

	if (at + 1 == walk->max)
		return true;
	if (!in_window(walk->t, pos))
		step = apply_fp(walk->t, &next);
	else if (is_sorted(walk->t))
		step = step_sorted(walk->t, &next);
	else
		return follows_any(walk, at, pos);
	return follows(walk, at, step, &next);
}

/* ---- Flipping ---------------------------------------------------------- */

/* Flip before or after the section is registered. */
enum when { BEFORE, AFTER };

FIXTURE(flip)
{
	__u8			*text;
	__u8			*section;
	__u8			*room;
	__u8			*stack;
	__u8			*run_stack;
	size_t			len;
	struct table		table;
	struct sft_event	event;
	struct sft_call		call;
	__u64			ip[16];
	unsigned int		nr;
};

FIXTURE_VARIANT(flip)
{
	bool			defer;
	enum when		when;
	const struct kind	*kind;
};

FIXTURE_VARIANT_ADD(flip, fp_before) { false, BEFORE, &mixed };
FIXTURE_VARIANT_ADD(flip, fp_before_slots) { false, BEFORE, &slots };
FIXTURE_VARIANT_ADD(flip, fp_after) { false, AFTER, &mixed };
FIXTURE_VARIANT_ADD(flip, fp_after_slots) { false, AFTER, &slots };
FIXTURE_VARIANT_ADD(flip, defer_before) { true, BEFORE, &mixed };
FIXTURE_VARIANT_ADD(flip, defer_before_slots) { true, BEFORE, &slots };
FIXTURE_VARIANT_ADD(flip, defer_after) { true, AFTER, &mixed };
FIXTURE_VARIANT_ADD(flip, defer_after_slots) { true, AFTER, &slots };

/* What the kernel keeps of the header. */
static void read_header(struct table *t, __u8 *section)
{
	const struct sframe_header *header = sft_header(section);
	const __u8 *behind = section + sizeof(*header);

	t->fdes = behind + header->fdes_off;
	t->rows = behind + header->fres_off;
	t->end = t->rows + header->fre_len;
	t->nr = header->num_fdes;
}

#define REGISTER()							\
	sft_register_text(KEY, self->section, self->len, self->text,	\
			  TEXT_SIZE, 0)

FIXTURE_SETUP(flip)
{
	struct sft_fde fdes[MAX_FDES];
	__u8 code[TEXT_SIZE];

	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	memset(code, 0xcc, sizeof(code));
	memcpy(code + AT_SIGNAL, SFT_SIGNAL_CODE, sizeof(SFT_SIGNAL_CODE) - 1);
	self->text = sft_map_code(code, sizeof(code), TEXT_SIZE);
	ASSERT_NE(NULL, self->text);
	ASSERT_EQ(0, sft_register_callees());
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->room = sft_map(ROOM_SIZE, PROT_NONE);
	ASSERT_NE(NULL, self->room);
	self->stack = self->room + ROOM_SIZE / 2;
	ASSERT_EQ(0, mprotect(self->stack, STACK_SIZE, SFT_RW));
	memset(self->stack, 0, STACK_SIZE);
	self->run_stack = sft_map(STACK_SIZE, SFT_RW);
	ASSERT_NE(NULL, self->run_stack);
	self->nr = variant->kind->stack(self->stack, self->text, self->ip);
	self->call.entry = sft_onto;
	self->call.target = self->stack + FIRST;
	self->len = sft_build(self->section, fdes,
			      variant->kind->fdes(fdes, self->text));
	ASSERT_GT(SECTION_MAX, self->len);
	self->table = (struct table){
		.text = (uintptr_t)self->text,
		.text_end = (uintptr_t)self->text + TEXT_SIZE,
		.stack = self->stack, .defer = variant->defer,
		.user_end = sft_user_end(),
		.pagemap = open("/proc/self/pagemap", O_RDONLY),
	};
	if (self->table.pagemap < 0)
		SKIP(return, "kernel without CONFIG_PROC_PAGE_MONITOR");
	read_header(&self->table, self->section);
	ASSERT_EQ(0, sft_break_open(&self->event, sft_escape_body,
				    variant->defer));
	ioctl(self->event.fd, PERF_EVENT_IOC_ENABLE, 0);
}

FIXTURE_TEARDOWN(flip)
{
	sft_event_close(&self->event);
	munmap(self->text, TEXT_SIZE);
	munmap(self->section, SFT_PAGE);
	munmap(self->room, ROOM_SIZE);
	munmap(self->run_stack, STACK_SIZE);
}

/* A traced process for each walk is slow: flip fewer bits then. */
#define EACH	(SFT_TRACED ? 5 : 1)

/* A walk, and whether the table allows it. */
#define WALK(chain, refusals)						\
	walk(&self->table, &self->event, &self->call,			\
	     self->run_stack + STACK_SIZE - 1024, chain, refusals)

/* A call, on the stack that ends at @run_stack. */
struct run {
	const struct sft_call	*call;
	void			*run_stack;
};

static void run_once(const void *arg)
{
	const struct run *run = arg;

	if (SFT_TRACED)
		sft_run(run->call);
	else
		sft_enter(run->run_stack, sft_outer, run->call);
}

static bool walk(const struct table *t, struct sft_event *event,
		 const struct sft_call *call, void *run_stack,
		 struct sft_chain *chain, unsigned int *refusals)
{
	const __u64 before = sft_all_refused();
	const __u64 sp = (uintptr_t)call->target + SFT_ONTO_SP -
			 SFT_ESCAPE_FRAME;
	const struct pos start = {
		.ip = (uintptr_t)sft_escape_body, .sp = sp, .fp = sp,
		.topmost = true, .exact = true,
	};
	const struct run run = { call, run_stack };
	struct walk walk = {
		.t = t, .chain = chain,
		.max = t->defer ? MAX_DEFER : MAX_FP,
	};
	int ret = sft_event_run(event, run_once, &run, chain);

	*refusals = sft_all_refused() - before;
	if (ret || !chain->nr || chain->ip[0] != start.ip)
		return false;
	walk.refused = *refusals;
	return *refusals <= 1 && walk_from(&walk, 0, &start);
}

static void print_flip(unsigned int byte, unsigned int bit,
		       const struct sft_chain *chain, unsigned int refusals)
{
	unsigned int i;

	printf("# byte %u, bit %u, refused %u:", byte, bit, refusals);
	for (i = 0; i < chain->nr && i < 20; i++)
		printf(" %llx", chain->ip[i]);
	printf("\n");
}

/* Guards against: a wrong second reader. */
TEST_F(flip, nothing)
{
	struct sft_chain chain;
	unsigned int refusals;

	ASSERT_EQ(0, REGISTER());
	EXPECT_TRUE(WALK(&chain, &refusals));
	EXPECT_EQ(0, refusals);
	/* After sft_escape; frame pointers may add frames at the end. */
	ASSERT_LE(1 + self->nr, chain.nr);
	EXPECT_EQ(0, memcmp(&chain.ip[1], self->ip, 8 * self->nr));
}

/* Guards against: a bit of a section that crashes or misleads the kernel. */
TEST_F(flip, each_bit)
{
	unsigned int i, refusals, wrong = 0, seen[3] = { 0 };
	const struct table good = self->table;
	struct sft_chain chain;
	int ret = -EINVAL;

	if (variant->when != BEFORE)
		ASSERT_EQ(0, REGISTER());
	for (i = 0; i < 8 * self->len; i += EACH) {
		self->section[i / 8] ^= 1 << i % 8;
		if (variant->when == BEFORE) {
			ret = REGISTER();
			read_header(&self->table, self->section);
		}
		if (variant->when == BEFORE && ret) {
			/* Registration checks only the header. */
			EXPECT_EQ(-EINVAL, ret);
			EXPECT_GT(sizeof(struct sframe_header), i / 8);
			seen[2]++;
		} else if (!WALK(&chain, &refusals)) {
			print_flip(i / 8, i % 8, &chain, refusals);
			wrong++;
		} else {
			seen[refusals]++;
		}
		if (variant->when == BEFORE && !ret)
			ASSERT_EQ(0, sft_unregister(KEY));
		self->section[i / 8] ^= 1 << i % 8;
		self->table = good;
	}
	TH_LOG("%u bits: walked to the end %u, refused %u, not registered %u",
	       seen[0] + seen[1] + seen[2] + wrong, seen[0], seen[1], seen[2]);
	EXPECT_EQ(0, wrong);
	EXPECT_LT(30 / EACH, seen[0]);
	EXPECT_LT(30 / EACH, seen[1]);

	/* The window is still registered and works as before. */
	if (variant->when == BEFORE)
		ASSERT_EQ(0, REGISTER());
	EXPECT_EQ(1 + SFT_CALLEES, sft_windows());
	EXPECT_TRUE(WALK(&chain, &refusals));
	EXPECT_EQ(0, refusals);
}

TEST_HARNESS_MAIN
