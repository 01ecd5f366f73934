// SPDX-License-Identifier: GPL-2.0
/*
 * Finding the rules of one frame in an SFrame section.
 *
 * The section belongs to user space, which may have made it up and may change
 * it at any time. So a byte is read once, into a local variable, then checked,
 * then used; nothing is kept between steps. A section can make the walk of its
 * own task fail or lie, and nothing else.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/unwind_user_sframe.h>

#include "sframe.h"
#include "sframe_format.h"
#include "user.h"

/* A rule has at most three pairs of words, of 1, 2 or 4 bytes each. */
#define SFRAME_ROW_WORDS	6
#define SFRAME_ROW_BYTES	(SFRAME_ROW_WORDS * sizeof(u32))

/* Bytes of rows read at once. */
#define SFRAME_CHUNK		64

/*
 * A window into the FRE area: what was read and is not yet used. A chunk comes
 * behind the head of a row, shorter than a row's words, and these are copied
 * without regard to their number.
 */
struct sframe_cursor {
	unsigned long	pos;
	unsigned long	end;
	unsigned int	head;
	unsigned int	fill;
	unsigned int	*budget;
	u8		buf[SFRAME_ROW_BYTES + SFRAME_CHUNK + SFRAME_ROW_BYTES];
};

/* A row as it is stored. */
struct sframe_row {
	u32		start;
	u8		info;
	u8		nr_words;
	u8		shift;
	u8		raw[SFRAME_ROW_BYTES];
};

/* An FDE and its attributes, decoded. */
struct sframe_func {
	unsigned long	start;
	u32		size;
	u32		fre_off;
	u16		nr_rows;
	u8		fre_type;
	u8		fde_type;
	u8		rep_size;
	bool		pcmask;
	bool		signal;
};

/* Each read and each row is taken from the walk's budget. */
static __always_inline bool sframe_spent(unsigned int *budget)
{
	if (!*budget)
		return true;
	--*budget;
	return false;
}

static __always_inline enum sframe_reason
sframe_read(void *dst, unsigned long addr, unsigned long size,
	    unsigned int *budget, const bool nofault)
{
	if (sframe_spent(budget))
		return SFRAME_REASON_BUDGET;
	if (unwind_user_read(dst, addr, size, nofault))
		return SFRAME_REASON_SECTION_FAULT;
	return SFRAME_REASON_NONE;
}

/* Move what is left, less than a row's words, to the front of the buffer. */
static __always_inline void sframe_cursor_rewind(struct sframe_cursor *cur)
{
	u8 left[SFRAME_ROW_BYTES];

	memcpy(left, cur->buf + cur->head, sizeof(left));
	memcpy(cur->buf, left, sizeof(left));
	cur->fill -= cur->head;
	cur->head = 0;
}

/*
 * Read the next chunk. It ends with its page: rows in front of a page that is
 * not there must not fail with it.
 */
static __always_inline enum sframe_reason
sframe_cursor_fill(struct sframe_cursor *cur, const bool nofault)
{
	unsigned long size = min(SFRAME_CHUNK, cur->end - cur->pos);
	enum sframe_reason reason;

	size = min(size, PAGE_SIZE - offset_in_page(cur->pos));
	/* The rows end where the section does. */
	if (!size)
		return SFRAME_REASON_FRE_OFFSET;

	sframe_cursor_rewind(cur);
	reason = sframe_read(cur->buf + cur->fill, cur->pos, size, cur->budget,
			     nofault);
	cur->fill += size;
	cur->pos += size;
	return reason;
}

/* Have the next @size bytes in the buffer. */
static __always_inline enum sframe_reason
sframe_cursor_need(struct sframe_cursor *cur, unsigned int size,
		   const bool nofault)
{
	enum sframe_reason reason;

	while (cur->fill - cur->head < size) {
		reason = sframe_cursor_fill(cur, nofault);
		if (reason)
			return reason;
	}
	return SFRAME_REASON_NONE;
}

/*
 * How many FDEs are there? A live window's producer counts up, by a store with
 * release semantics, when an FDE and its rows are complete.
 */
static __always_inline enum sframe_reason
sframe_count_fdes(const struct sframe_section *section, u32 *nr,
		  unsigned int *budget, const bool nofault)
{
	unsigned long count, addr;

	*nr = section->num_fdes;
	if (!section->live)
		return SFRAME_REASON_NONE;
	if (sframe_spent(budget))
		return SFRAME_REASON_BUDGET;

	addr = section->start + offsetof(struct sframe_header, num_fdes);
	if (unwind_user_read_u32(&count, addr, nofault))
		return SFRAME_REASON_SECTION_FAULT;
	/* What was stored before the count is read after it. */
	smp_rmb();

	/* No more than there is space for. */
	if (count < *nr)
		*nr = count;
	return SFRAME_REASON_NONE;
}

/* Find the last FDE that starts at or before @ip. */
static __always_inline enum sframe_reason
sframe_find_fde(const struct sframe_section *section, unsigned long ip,
		struct sframe_func *func, unsigned int *budget,
		const bool nofault)
{
	unsigned long lowest = 0, highest = ULONG_MAX, addr, start;
	enum sframe_reason reason;
	u32 low = 0, high, mid;
	struct sframe_fde fde;
	bool found = false;

	reason = sframe_count_fdes(section, &high, budget, nofault);
	if (reason)
		return reason;

	while (low < high) {
		mid = low + (high - low) / 2;
		addr = section->fdes + mid * sizeof(fde);
		reason = sframe_read(&fde, addr, sizeof(fde), budget, nofault);
		if (reason)
			return reason;

		/* A sorted index has no entry outside of those around it. */
		start = addr + fde.func_start;
		if (start < lowest || start > highest)
			return SFRAME_REASON_FDE_ORDER;

		if (start > ip) {
			highest = start;
			high = mid;
			continue;
		}
		lowest = start;
		low = mid + 1;
		found = true;
		func->start = start;
		func->size = fde.func_size;
		func->fre_off = fde.fre_off;
	}
	return found ? SFRAME_REASON_NONE : SFRAME_REASON_NO_FDE;
}

static __always_inline enum sframe_reason
sframe_check_fde(const struct sframe_window *window, unsigned long ip,
		 const struct sframe_func *func)
{
	/* A gap between functions, or an entry that was taken back. */
	if (ip - func->start >= func->size)
		return SFRAME_REASON_NO_FDE;

	/* A function that begins or ends elsewhere is not of this window. */
	if (func->start < window->text_start ||
	    func->size > window->text_end - func->start)
		return SFRAME_REASON_FDE_RANGE;

	return SFRAME_REASON_NONE;
}

static __always_inline enum sframe_reason
sframe_read_attr(struct sframe_cursor *cur, struct sframe_func *func,
		 const bool nofault)
{
	struct sframe_fde_attr attr;
	enum sframe_reason reason;

	reason = sframe_cursor_need(cur, sizeof(attr), nofault);
	if (reason)
		return reason;
	memcpy(&attr, cur->buf + cur->head, sizeof(attr));
	cur->head += sizeof(attr);

	/* Bits of a later version may change what the rows mean. */
	if (attr.info & SFRAME_FDE_RESERVED ||
	    attr.info2 & SFRAME_FDE2_RESERVED)
		return SFRAME_REASON_FDE_TYPE;

	func->nr_rows = attr.num_fres;
	func->fre_type = SFRAME_FDE_FRE_TYPE(attr.info);
	func->fde_type = SFRAME_FDE2_TYPE(attr.info2);
	func->pcmask = attr.info & SFRAME_FDE_PCMASK;
	func->signal = attr.info & SFRAME_FDE_SIGNAL;
	func->rep_size = attr.rep_size;

	/* Row starts have 1, 2 or 4 bytes. */
	if (func->fre_type > SFRAME_FRE_TYPE_ADDR4)
		return SFRAME_REASON_FDE_TYPE;

	if (func->fde_type > SFRAME_FDE_TYPE_FLEX)
		return SFRAME_REASON_FDE_TYPE;

	/* The offset is taken modulo the block size. */
	if (func->pcmask && !func->rep_size)
		return SFRAME_REASON_REP_SIZE;

	return SFRAME_REASON_NONE;
}

static __always_inline enum sframe_reason
sframe_read_start(struct sframe_cursor *cur, const struct sframe_func *func,
		  u32 *start, const bool nofault)
{
	unsigned int size = 1 << func->fre_type;
	enum sframe_reason reason;
	const u8 *at;

	reason = sframe_cursor_need(cur, size, nofault);
	if (reason)
		return reason;

	at = cur->buf + cur->head;
	if (func->fre_type == SFRAME_FRE_TYPE_ADDR1)
		*start = *at;
	else if (func->fre_type == SFRAME_FRE_TYPE_ADDR2)
		*start = get_unaligned((const u16 *)at);
	else
		*start = get_unaligned((const u32 *)at);
	cur->head += size;
	return SFRAME_REASON_NONE;
}

/* Read the info byte of a row and the data words it announces. */
static __always_inline enum sframe_reason
sframe_read_words(struct sframe_cursor *cur, struct sframe_row *row,
		  const bool nofault)
{
	enum sframe_reason reason;

	reason = sframe_cursor_need(cur, 1, nofault);
	if (reason)
		return reason;

	row->info = cur->buf[cur->head++];
	row->shift = SFRAME_FRE_WORD_SIZE(row->info);
	row->nr_words = SFRAME_FRE_WORDS(row->info);

	/* Words have 1, 2 or 4 bytes; no rule needs more than six of them. */
	if (row->shift > 2 || row->nr_words > SFRAME_ROW_WORDS)
		return SFRAME_REASON_ROW_WORDS;

	reason = sframe_cursor_need(cur, row->nr_words << row->shift, nofault);
	if (reason)
		return reason;

	memcpy(row->raw, cur->buf + cur->head, SFRAME_ROW_BYTES);
	cur->head += row->nr_words << row->shift;
	return SFRAME_REASON_NONE;
}

/* A data word, with the sign of an offset. */
static s32 sframe_word(const struct sframe_row *row, unsigned int nr)
{
	switch (row->shift) {
	case 0:
		return (s8)row->raw[nr];
	case 1:
		return get_unaligned((const s16 *)(row->raw + 2 * nr));
	default:
		return get_unaligned((const s32 *)(row->raw + 4 * nr));
	}
}

/* Find the last row that starts at or before @off. */
static __always_inline enum sframe_reason
sframe_find_row(struct sframe_cursor *cur, const struct sframe_func *func,
		u32 off, struct sframe_row *row, const bool nofault)
{
	enum sframe_reason reason;
	unsigned int i;
	u32 start;

	for (i = 0; i < func->nr_rows; i++) {
		/* The time of a step is bounded, whatever the table says. */
		if (i == SFRAME_STEP_ROWS)
			return SFRAME_REASON_ROW_COUNT;
		if (sframe_spent(cur->budget))
			return SFRAME_REASON_BUDGET;

		reason = sframe_read_start(cur, func, &start, nofault);
		if (reason)
			return reason;

		/* Rows that go back or stand still have no meaning. */
		if (i && start <= row->start)
			return SFRAME_REASON_ROW_ORDER;

		if (start > off)
			break;

		row->start = start;
		reason = sframe_read_words(cur, row, nofault);
		if (reason)
			return reason;
	}
	return i ? SFRAME_REASON_NONE : SFRAME_REASON_NO_ROW;
}

/* CFA = base + word 0, RA at the fixed offset, FP at CFA + word 1. */
static enum sframe_reason
sframe_default_rules(const struct sframe_row *row, s8 ra_off,
		     struct unwind_user_frame *frame)
{
	/* The return address is not a word here: its offset is fixed. */
	if (row->nr_words > 2)
		return SFRAME_REASON_ROW_WORDS;

	frame->cfa.base = SFRAME_FRE_BASE_SP(row->info) ?
			  UNWIND_USER_BASE_SP : UNWIND_USER_BASE_FP;
	frame->cfa.off = sframe_word(row, 0);
	frame->ra.base = UNWIND_USER_BASE_CFA;
	frame->ra.deref = true;
	frame->ra.off = ra_off;
	if (row->nr_words == 2) {
		frame->fp.base = UNWIND_USER_BASE_CFA;
		frame->fp.deref = true;
		frame->fp.off = sframe_word(row, 1);
	}
	return SFRAME_REASON_NONE;
}

/* One (control, offset) pair of a FLEX row. */
static enum sframe_reason
sframe_flex_rule(const struct sframe_row *row, unsigned int nr,
		 struct unwind_user_rule *rule)
{
	/* Control words are unsigned, offsets are not. */
	u32 ctrl = sframe_word(row, nr) & GENMASK((8 << row->shift) - 1, 0);
	u32 regnum = SFRAME_FLEX_REGNUM(ctrl);

	if (ctrl & SFRAME_FLEX_RESERVED)
		return SFRAME_REASON_ROW_RULE;

	rule->deref = ctrl & SFRAME_FLEX_DEREF_P;
	rule->off = sframe_word(row, nr + 1);
	if (!(ctrl & SFRAME_FLEX_REG_P)) {
		rule->base = UNWIND_USER_BASE_CFA;
		return SFRAME_REASON_NONE;
	}

	/* Larger numbers would be cut off by the type of the field. */
	if (regnum > U16_MAX)
		return SFRAME_REASON_ROW_REGISTER;

	if (regnum == UNWIND_USER_REGNUM_SP)
		rule->base = UNWIND_USER_BASE_SP;
	else if (regnum == UNWIND_USER_REGNUM_FP)
		rule->base = UNWIND_USER_BASE_FP;
	else
		rule->base = UNWIND_USER_BASE_REG;
	rule->regnum = regnum;
	return SFRAME_REASON_NONE;
}

/*
 * Pairs for CFA, RA and FP in this order. A single word 0 in place of the RA
 * pair leaves the fixed offset and is there for the FP pair behind it only.
 */
static enum sframe_reason
sframe_flex_rules(const struct sframe_row *row, s8 ra_off,
		  struct unwind_user_frame *frame)
{
	bool padded = row->nr_words == 5;
	enum sframe_reason reason;

	/* Two, four or six words are pairs, five have the padding. */
	if (row->nr_words & 1 && !padded)
		return SFRAME_REASON_ROW_WORDS;
	if (padded && sframe_word(row, 2))
		return SFRAME_REASON_ROW_WORDS;

	reason = sframe_flex_rule(row, 0, &frame->cfa);
	if (reason)
		return reason;

	/* The CFA cannot start from itself. */
	if (frame->cfa.base == UNWIND_USER_BASE_CFA)
		return SFRAME_REASON_ROW_RULE;

	frame->ra.base = UNWIND_USER_BASE_CFA;
	frame->ra.deref = true;
	frame->ra.off = ra_off;
	if (row->nr_words >= 4 && !padded)
		reason = sframe_flex_rule(row, 2, &frame->ra);
	if (reason)
		return reason;

	/* A stack address is no return address. */
	if (frame->ra.base == UNWIND_USER_BASE_CFA && !frame->ra.deref)
		return SFRAME_REASON_ROW_RULE;

	if (row->nr_words < 5)
		return SFRAME_REASON_NONE;
	return sframe_flex_rule(row, row->nr_words - 2, &frame->fp);
}

static enum sframe_reason
sframe_row_rules(const struct sframe_row *row, u8 fde_type, s8 ra_off,
		 struct unwind_user_frame *frame)
{
	/* No words: the return address is undefined, the stack ends here. */
	if (!row->nr_words) {
		frame->outermost = true;
		return SFRAME_REASON_NONE;
	}

	/* No architecture with a fixed RA offset mangles return addresses. */
	if (SFRAME_FRE_MANGLED_RA(row->info))
		return SFRAME_REASON_ROW_RULE;

	if (fde_type == SFRAME_FDE_TYPE_FLEX)
		return sframe_flex_rules(row, ra_off, frame);
	return sframe_default_rules(row, ra_off, frame);
}

static __always_inline enum sframe_reason
__sframe_find_frame(const struct sframe_window *window, unsigned long ip,
		    struct unwind_user_frame *frame, unsigned int *budget,
		    const bool nofault)
{
	const struct sframe_section *section = &window->section;
	struct sframe_cursor cur;
	enum sframe_reason reason;
	struct sframe_func func;
	struct sframe_row row;
	u32 off;

	memset(frame, 0, sizeof(*frame));
	reason = sframe_find_fde(section, ip, &func, budget, nofault);
	if (reason)
		return reason;
	reason = sframe_check_fde(window, ip, &func);
	if (reason)
		return reason;

	/* The rows of the function have to be in the section. */
	if (func.fre_off >= section->fres_end - section->fres)
		return SFRAME_REASON_FRE_OFFSET;

	cur.pos = section->fres + func.fre_off;
	cur.end = section->fres_end;
	cur.head = 0;
	cur.fill = 0;
	cur.budget = budget;
	reason = sframe_read_attr(&cur, &func, nofault);
	if (reason)
		return reason;

	/* The kernel knows its signal frame; rows could only say less. */
	if (func.signal) {
		frame->signal = true;
		return SFRAME_REASON_NONE;
	}

	off = ip - func.start;
	if (func.pcmask)
		off %= func.rep_size;
	reason = sframe_find_row(&cur, &func, off, &row, nofault);
	if (reason)
		return reason;

	return sframe_row_rules(&row, func.fde_type, section->ra_off, frame);
}

/**
 * sframe_find_frame - find the rules that hold at an address of a window
 * @window:	the window, pinned by the caller
 * @ip:		address inside of its text
 * @frame:	filled with the rules
 * @budget:	reads and rows left for this walk, counted down
 *
 * Context: Process context. May sleep in a page fault.
 * Return: SFRAME_REASON_NONE, or why there is no frame.
 */
enum sframe_reason
sframe_find_frame(const struct sframe_window *window, unsigned long ip,
		  struct unwind_user_frame *frame, unsigned int *budget)
{
	return __sframe_find_frame(window, ip, frame, budget, false);
}

/**
 * sframe_find_frame_nofault - the same for callers that must not fault
 * @window:	the window, pinned by the caller
 * @ip:		address inside of its text
 * @frame:	filled with the rules
 * @budget:	reads and rows left for this walk, counted down
 *
 * Context: Any, with page faults disabled and nmi_uaccess_okay().
 * Return: SFRAME_REASON_NONE, or why there is no frame.
 */
enum sframe_reason
sframe_find_frame_nofault(const struct sframe_window *window,
			  unsigned long ip, struct unwind_user_frame *frame,
			  unsigned int *budget)
{
	return __sframe_find_frame(window, ip, frame, budget, true);
}

static int sframe_check_header(const struct sframe_header *header)
{
	/* Each version so far has another layout. */
	if (header->magic != SFRAME_MAGIC ||
	    header->version != SFRAME_VERSION_3)
		return -EINVAL;

	/* The search needs order, and addresses relative to their field. */
	if (header->flags != (SFRAME_F_FDE_SORTED |
			      SFRAME_F_FDE_FUNC_START_PCREL))
		return -EINVAL;

	/* Rules are in terms of one machine's registers. */
	if (header->abi_arch != UNWIND_USER_SFRAME_ABI ||
	    header->cfa_fixed_ra_offset != UNWIND_USER_SFRAME_RA_OFF ||
	    header->cfa_fixed_fp_offset)
		return -EINVAL;

	/* Nobody emits an auxiliary header. */
	if (header->auxhdr_len)
		return -EINVAL;

	return 0;
}

/*
 * The index lies in front of the rows, and these in the section. In a live
 * section the index grows up to the rows, and these up to the end.
 */
static int sframe_set_extent(struct sframe_section *section,
			     const struct sframe_header *header, bool live)
{
	unsigned long behind = section->start + sizeof(*header);
	unsigned long len = section->length - sizeof(*header);
	u32 capacity, fre_len;

	if (header->fres_off > len || header->fdes_off > header->fres_off)
		return -EINVAL;
	len -= header->fres_off;
	fre_len = live ? len : header->fre_len;
	if (fre_len > len)
		return -EINVAL;

	capacity = (header->fres_off - header->fdes_off) /
		   sizeof(struct sframe_fde);
	/* Also of a live section: what is there was appended. */
	if (header->num_fdes > capacity)
		return -EINVAL;
	section->num_fdes = live ? capacity : header->num_fdes;
	/* The time of a search is bounded. */
	if (section->num_fdes > SFRAME_MAX_FDES)
		return -EINVAL;

	section->fdes = behind + header->fdes_off;
	section->fres = behind + header->fres_off;
	section->fres_end = section->fres + fre_len;
	section->live = live;
	return 0;
}

/**
 * sframe_read_header - read and check the header of a section
 * @section:	filled from the header
 * @addr:	user address of the section
 * @len:	its length
 * @live:	the section grows
 *
 * Context: Process context, without locks.
 * Return: 0, -EINVAL or -EFAULT.
 */
int sframe_read_header(struct sframe_section *section, unsigned long addr,
		       unsigned long len, bool live)
{
	struct sframe_header header;
	int ret;

	/* The count of a live section is read by one aligned load. */
	if (live && !IS_ALIGNED(addr, sizeof(u64)))
		return -EINVAL;

	/* Offsets in a section have 32 bits, and it must not wrap. */
	if (len < sizeof(header) || len > U32_MAX ||
	    !access_ok((void __user *)addr, len))
		return -EINVAL;
	if (copy_from_user(&header, (void __user *)addr, sizeof(header)))
		return -EFAULT;
	ret = sframe_check_header(&header);
	if (ret)
		return ret;

	section->start = addr;
	section->length = len;
	section->ra_off = header.cfa_fixed_ra_offset;
	return sframe_set_extent(section, &header, live);
}

static int sframe_read_fde(const struct sframe_section *section, u32 nr,
			   unsigned long *start, unsigned long *size)
{
	unsigned long addr = section->fdes + nr * sizeof(struct sframe_fde);
	struct sframe_fde fde;

	if (copy_from_user(&fde, (void __user *)addr, sizeof(fde)))
		return -EFAULT;
	*start = addr + fde.func_start;
	*size = fde.func_size;
	return 0;
}

/**
 * sframe_read_text_range - the text from the first to the last FDE
 * @section:	a checked section
 * @start:	first address of the first FDE
 * @end:	first address behind the last FDE
 *
 * Context: Process context, without locks.
 * Return: 0, -EINVAL if there is no FDE, or -EFAULT.
 */
int sframe_read_text_range(const struct sframe_section *section,
			   unsigned long *start, unsigned long *end)
{
	unsigned long last, size;
	int ret;

	if (!section->num_fdes)
		return -EINVAL;
	ret = sframe_read_fde(section, 0, start, &size);
	if (ret)
		return ret;
	ret = sframe_read_fde(section, section->num_fdes - 1, &last, &size);
	if (ret)
		return ret;

	/* The caller checks the range; only the sum could hide an overflow. */
	if (check_add_overflow(last, size, end))
		return -EINVAL;
	return 0;
}
