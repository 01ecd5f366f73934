// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Encodes rows; allocates nothing. */
#include "core.h"

#define HEADER_SIZE	sizeof(struct sframe_header)
#define INDEX_SIZE	sizeof(struct sframe_fde)
#define ATTR_SIZE	sizeof(struct sframe_fde_attr)

/*
 * s390x stores CFA offsets less the register save area (160), in units of 8, so
 * most fit a byte. gas also does so in FLEX rows; the specification does not
 * say.
 */
static int64_t stored_cfa(const struct sfg_arch *arch, int32_t offset)
{
	if (arch->cfa_scale == 1)
		return offset;
	return ((int64_t)offset + arch->sp_bias) / arch->cfa_scale;
}

/* The 32 bits that follow a rule's offset: register, base and deref. */
static inline uint32_t rule_kind(const struct sfjit_rule *rule)
{
	uint32_t kind;

	memcpy(&kind, (const char *)rule + sizeof(rule->offset), sizeof(kind));
	return kind;
}

static inline uint32_t kind_of(uint32_t reg, uint32_t base, uint32_t deref)
{
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		return reg << 16 | base << 8 | deref;
	return reg | base << 16 | deref << 24;
}

/*
 * Write fields one by one: copying a structure that was just built on the stack
 * stalls on store forwarding, for longer than the rest of a small section
 * takes.
 */
#define AT(buf, type, field)	((buf) + offsetof(struct type, field))

static inline void put_u16(bool swap, uint8_t *p, uint16_t v)
{
	v = swap16(swap, v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_u32(bool swap, uint8_t *p, uint32_t v)
{
	v = swap32(swap, v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_u64(bool swap, uint8_t *p, uint64_t v)
{
	v = swap64(swap, v);
	memcpy(p, &v, sizeof(v));
}

/* Loads two adjacent 32-bit fields, the first into the low half. */
static inline uint64_t load_pair(const void *first)
{
	uint64_t pair;

	memcpy(&pair, first, sizeof(pair));
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		pair = pair << 32 | pair >> 32;
	return pair;
}

/* The value of load_pair() for a rule with a one-byte offset. */
static inline uint64_t short_rule(uint64_t kind, int8_t offset)
{
	return kind | (uint32_t)offset;
}

/*
 * Rules of plain rows without their offsets, as load_pair() returns them.
 * Passed by value: a compiler reloads through a pointer after each byte
 * written.
 */
struct plain_kinds {
	uint64_t sp, fp;	/* of the CFA */
	uint64_t slot;		/* of the FP */
	bool none;		/* no row is plain */
};

static inline struct plain_kinds plain_kinds(const struct sfg_arch *arch)
{
	return (struct plain_kinds){
		.sp = (uint64_t)kind_of(arch->sp, SFJIT_BASE_REG, 0) << 32,
		.fp = (uint64_t)kind_of(arch->fp, SFJIT_BASE_REG, 0) << 32,
		.slot = (uint64_t)kind_of(0, SFJIT_BASE_CFA, 1) << 32,
		.none = !arch->fixed_ra || arch_swaps(arch),
	};
}

/*
 * Writes info and words of a plain row: DEFAULT, allowed by the format, with
 * offsets of one byte. Returns NULL for other rows. The caller checks start and
 * flags.
 */
static inline uint8_t *write_plain_row(struct plain_kinds kinds,
				       const struct sfjit_row *row, uint8_t *p)
{
	uint64_t cfa = load_pair(&row->cfa), fp = load_pair(&row->fp);
	unsigned int info = 1 << 1;

	if (rule_kind(&row->ra) || row->cfa.addend)
		return NULL;
	if (cfa == short_rule(kinds.sp, cfa))
		info |= 0x1;
	else if (cfa != short_rule(kinds.fp, cfa))
		return NULL;
	p[1] = cfa;
	p[0] = info;
	if (!(fp >> 32))
		return p + 2;
	if (fp != short_rule(kinds.slot, fp) || row->fp.addend)
		return NULL;
	p[0] = info + (1 << 1);
	p[2] = fp;
	return p + 3;
}

/*
 * Whether rows of this FDE may be plain. load_pair() has the flags above the
 * start, so if the last row has none, no lower one has.
 */
static inline bool may_be_plain(struct plain_kinds kinds,
				const struct sfjit_function *fde)
{
	return !kinds.none && fde->nr_rows &&
	       !fde->rows[fde->nr_rows - 1].flags;
}

/*
 * A negative number needs as many bits as its complement, and a sign: 'bits' up
 * to 0x7f fits one byte, up to 0x7fff two.
 */
static inline void put_word(struct sfg_words *words, int32_t word)
{
	words->word[words->nr++] = word;
	words->bits |= word ^ (word >> 31);
}

/* Control words are unsigned: 0xff fits one byte. */
static inline void put_rule(struct sfg_words *words,
			    const struct sfjit_rule *rule, int32_t offset)
{
	uint32_t control = rule->deref ? SFRAME_FLEX_DEREF_P : 0;

	if (rule->base == SFJIT_BASE_REG)
		control |= (uint32_t)rule->reg << 3 | SFRAME_FLEX_REG_P;
	if (rule->addend)
		control |= SFRAME_FLEX_ADDEND;
	words->word[words->nr++] = control;
	words->bits |= control >> 1;
	put_word(words, offset);
	if (rule->addend)
		put_word(words, rule->addend);
}

/*
 * FLEX (version 3): a control word and an offset each for CFA, RA and FP, and
 * an optional addend for the CFA. An RA without a rule is a single 0 if an FP
 * follows.
 */
static void flex_words(const struct sfg_arch *arch, const struct sfjit_row *row,
		       struct sfg_words *words)
{
	put_rule(words, &row->cfa, stored_cfa(arch, row->cfa.offset));
	if (row->ra.base)
		put_rule(words, &row->ra, row->ra.offset);
	else if (row->fp.base)
		put_word(words, 0);
	if (row->fp.base)
		put_rule(words, &row->fp, row->fp.offset);
}

/*
 * DEFAULT: the CFA's offset, then the slots of RA (unless the ABI fixes it) and
 * FP. The number of words tells which are present.
 */
static inline void default_words(const struct sfg_arch *arch,
				 const struct sfjit_row *row,
				 struct sfg_words *words)
{
	put_word(words, stored_cfa(arch, row->cfa.offset));
	if (!arch->fixed_ra && (row->ra.base || row->fp.base))
		put_word(words, row->ra.base ? row->ra.offset : 0);
	if (row->fp.base)
		put_word(words, row->fp.offset);
}

static inline void row_words(const struct sfg_arch *arch,
			     const struct sfjit_row *row, bool flex,
			     struct sfg_words *words)
{
	words->nr = 0;
	words->bits = 0;
	if (row->flags & SFJIT_ROW_OUTERMOST)
		return;
	if (flex)
		flex_words(arch, row, words);
	else
		default_words(arch, row, words);
}

static inline unsigned int word_shift(const struct sfg_words *words)
{
	return (words->bits > 0x7f) + (words->bits > 0x7fff);
}

size_t sfg_row_size(const struct sfg_arch *arch, const struct sfjit_row *row,
		    bool flex)
{
	struct sfg_words words;

	row_words(arch, row, flex, &words);
	return 1 + ((size_t)words.nr << word_shift(&words));
}

static bool needs_flex(const struct sfg_arch *arch,
		       const struct sfjit_function *fde)
{
	uint32_t i;

	for (i = 0; i < fde->nr_rows; i++)
		if (!sfg_row_is_default(arch, &fde->rows[i]))
			return true;
	return false;
}

static unsigned int start_shift(const struct sfjit_function *fde)
{
	return fde->nr_rows ?
	       sfg_start_shift(fde->rows[fde->nr_rows - 1].start) : 0;
}

/*
 * The last start decides the width of all. gas uses the size of the function,
 * which may waste bytes.
 */
size_t sfg_block_size(const struct sfg_arch *arch,
		      const struct sfjit_function *fde)
{
	size_t size = ATTR_SIZE + ((size_t)fde->nr_rows << start_shift(fde));
	bool flex = needs_flex(arch, fde);
	uint32_t i;

	for (i = 0; i < fde->nr_rows; i++)
		size += sfg_row_size(arch, &fde->rows[i], flex);
	return size;
}

/* Writes the low 1, 2 or 4 bytes of v. */
static inline uint8_t *put_uint(bool swap, uint8_t *p, uint32_t v,
				unsigned int shift)
{
	uint16_t half;

	if (shift == 0) {
		*p = v;
	} else if (shift == 1) {
		half = swap16(swap, v);
		memcpy(p, &half, 2);
	} else {
		v = swap32(swap, v);
		memcpy(p, &v, 4);
	}
	return p + (1 << shift);
}

/*
 * Bit 0: base register of the CFA, 1 for SP, 0 for FP and in FLEX; bits 1 to 4:
 * number of words; 5 and 6: log2 of their size; 7: signed return address.
 */
static inline uint8_t row_info(const struct sfg_arch *arch,
			       const struct sfjit_row *row, bool flex,
			       const struct sfg_words *words)
{
	uint8_t info = words->nr << 1 | word_shift(words) << 5;

	/* an outermost row has no base register either */
	if (!words->nr)
		return 0;
	if (!flex && row->cfa.reg == arch->sp)
		info |= 0x1;
	if (row->flags & SFJIT_ROW_MANGLED_RA)
		info |= 0x80;
	return info;
}

static uint8_t *write_row(const struct sfg_arch *arch,
			  const struct sfjit_row *row, bool flex,
			  unsigned int start_shift, uint8_t *p)
{
	bool swap = arch_swaps(arch);
	struct sfg_words words;
	unsigned int i;

	row_words(arch, row, flex, &words);
	p = put_uint(swap, p, row->start, start_shift);
	*p++ = row_info(arch, row, flex, &words);
	for (i = 0; i < words.nr; i++)
		p = put_uint(swap, p, words.word[i], word_shift(&words));
	return p;
}

static inline uint8_t fde_info(const struct sfjit_function *fde,
			       unsigned int shift)
{
	uint8_t info = shift;

	if (fde->repeat)
		info |= SFRAME_FDE_PCMASK;
	if (fde->flags & SFJIT_FUNCTION_PAUTH_KEY_B)
		info |= SFRAME_FDE_PAUTH_KEY_B;
	if (fde->flags & SFJIT_FUNCTION_SIGNAL)
		info |= SFRAME_FDE_SIGNAL;
	return info;
}

/* Checks and writes together; NULL: not all rows are plain. */
static inline uint8_t *write_plain_rows(struct plain_kinds kinds,
					const struct sfjit_row *row,
					const struct sfjit_row *end,
					unsigned int shift, uint8_t *p)
{
	uint64_t start, next = 0;

	for (; row != end; row++) {
		start = load_pair(&row->start);
		if (start < next)
			return NULL;
		next = start + 1;
		p = write_plain_row(kinds, row,
				    put_uint(false, p, start, shift));
		if (!p)
			return NULL;
	}
	return p;
}

/* 0: not all rows are plain. */
static inline size_t plain_block_size(struct plain_kinds kinds,
				      const struct sfjit_function *fde)
{
	const struct sfjit_row *row = fde->rows, *end = row + fde->nr_rows;
	size_t size = ATTR_SIZE + ((size_t)fde->nr_rows << start_shift(fde));
	uint8_t row_bytes[3], *p;
	uint64_t start, next = 0;

	if (!may_be_plain(kinds, fde))
		return 0;
	for (; row != end; row++) {
		start = load_pair(&row->start);
		p = write_plain_row(kinds, row, row_bytes);
		if (start < next || !p)
			return 0;
		next = start + 1;
		size += p - row_bytes;
	}
	return size;
}

static uint8_t *write_rows(const struct sfg_arch *arch,
			   const struct sfjit_function *fde, bool flex,
			   uint8_t *p)
{
	const struct sfjit_row *row = fde->rows, *end = row + fde->nr_rows;
	unsigned int shift = start_shift(fde);

	for (; row != end; row++)
		p = write_row(arch, row, flex, shift, p);
	return p;
}

void sfg_write_header(const struct sfg_arch *arch, uint8_t *buf,
		      uint32_t nr_fdes, uint32_t nr_fres, uint32_t fre_len)
{
	bool swap = arch_swaps(arch);

	put_u16(swap, AT(buf, sframe_header, magic), SFRAME_MAGIC);
	*AT(buf, sframe_header, version) = SFRAME_VERSION_3;
	*AT(buf, sframe_header, flags) = SFRAME_F_FDE_SORTED |
					 SFRAME_F_FDE_FUNC_START_PCREL;
	*AT(buf, sframe_header, abi_arch) = arch->trial_abi ? : arch->abi;
	*AT(buf, sframe_header, cfa_fixed_fp_offset) = 0;
	*AT(buf, sframe_header, cfa_fixed_ra_offset) = arch->fixed_ra;
	*AT(buf, sframe_header, auxhdr_len) = 0;
	put_u32(swap, AT(buf, sframe_header, num_fdes), nr_fdes);
	put_u32(swap, AT(buf, sframe_header, num_fres), nr_fres);
	put_u32(swap, AT(buf, sframe_header, fre_len), fre_len);
	put_u32(swap, AT(buf, sframe_header, fdes_off), 0);
	put_u32(swap, AT(buf, sframe_header, fres_off), nr_fdes * INDEX_SIZE);
}

/*
 * Relative to the field itself (FUNC_START_PCREL), modulo 2^64: it reaches
 * everywhere, unlike version 2's 32 bits.
 */
static inline void put_index(bool swap, uint8_t *buf, uint64_t field_addr,
			     const struct sfjit_function *fde, uint32_t fre_off)
{
	put_u64(swap, AT(buf, sframe_fde, func_start), fde->addr - field_addr);
	put_u32(swap, AT(buf, sframe_fde, func_size), fde->size);
	put_u32(swap, AT(buf, sframe_fde, fre_off), fre_off);
}

void sfg_write_index(const struct sfg_arch *arch, uint8_t *buf,
		     uint64_t field_addr, const struct sfjit_function *fde,
		     uint32_t fre_off)
{
	put_index(arch_swaps(arch), buf, field_addr, fde, fre_off);
}

static inline void write_attr(bool swap, const struct sfjit_function *fde,
			      bool flex, unsigned int shift, uint8_t *buf)
{
	put_u16(swap, AT(buf, sframe_fde_attr, num_fres),
		fde->nr_rows);
	*AT(buf, sframe_fde_attr, info) = fde_info(fde, shift);
	*AT(buf, sframe_fde_attr, info2) = flex ?
		SFRAME_FDE_TYPE_FLEX : SFRAME_FDE_TYPE_DEFAULT;
	*AT(buf, sframe_fde_attr, rep_size) = fde->repeat;
}

static size_t write_block(const struct sfg_arch *arch,
			  const struct sfjit_function *fde, bool flex,
			  uint8_t *buf)
{
	write_attr(arch_swaps(arch), fde, flex, start_shift(fde), buf);
	return write_rows(arch, fde, flex, buf + ATTR_SIZE) - buf;
}

/*
 * Returns 0 if some row is not plain; the bytes are then undefined. The
 * compiler specializes write_plain_rows() for the constant 0, as most FDEs have
 * one-byte starts.
 */
static inline size_t write_plain_block(struct plain_kinds kinds,
				       const struct sfjit_function *fde,
				       uint8_t *buf)
{
	const struct sfjit_row *row = fde->rows, *last = row + fde->nr_rows;
	uint8_t *end = buf + ATTR_SIZE;
	unsigned int shift;

	if (!may_be_plain(kinds, fde))
		return 0;
	shift = sfg_start_shift(last[-1].start);
	end = shift ? write_plain_rows(kinds, row, last, shift, end) :
		      write_plain_rows(kinds, row, last, 0, end);
	if (!end)
		return 0;
	write_attr(false, fde, false, shift, buf);
	return end - buf;
}

size_t sfg_write_block(const struct sfg_arch *arch,
		       const struct sfjit_function *fde, uint8_t *buf)
{
	return write_block(arch, fde, needs_flex(arch, fde), buf);
}

static int fail_fde(struct sfg_error *err, size_t index, const char *reason,
		    int code)
{
	return sfg_fail(err, index, reason, code);
}

/*
 * Checks an FDE's fields against format and kernel. An FDE without rows has no
 * caller by the specification; gas also writes one for a signal frame that it
 * cannot express. Here only the latter is allowed.
 */
static int check_fde(const struct sfjit_function *fde, size_t index,
		     uint64_t end_before, struct sfg_error *err)
{
	const char *reason;

	if (fde->nr_rows > UINT16_MAX)
		return fail_fde(err, index, "too many rows in one FDE", -E2BIG);
	reason = sfg_check_range(fde, end_before);
	return reason ? fail_fde(err, index, reason, -EINVAL) : 0;
}

/* Checks an FDE's rows. */
static int check_input_rows(const struct sfg_arch *arch,
			    const struct sfjit_function *fde, size_t index,
			    struct sfg_error *err)
{
	const struct sfjit_row *row = fde->rows;
	uint32_t i;

	for (i = 0; i < fde->nr_rows; i++, row++) {
		if (i && row->start <= row[-1].start)
			return fail_fde(err, index,
					"row starts do not increase",
					-EINVAL);
		if (!sfg_row_fits(arch, row))
			return fail_fde(err, index, "row is not expressible",
					-EINVAL);
	}
	return 0;
}

int sfg_check_function(unsigned int abi, const struct sfjit_function *function,
		       struct sfg_error *err)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	int ret;

	if (!arch)
		return fail_fde(err, 0, "no ABI of this number", -ENOTSUP);
	ret = check_fde(function, 0, 0, err);
	return ret ? ret : check_input_rows(arch, function, 0, err);
}

/* fres_off has 32 bits, and the index precedes it. */
static int check_abi(unsigned int abi, size_t nr,
		     const struct sfg_arch **arch, struct sfg_error *err)
{
	*arch = sfg_arch_by_abi(abi);
	if (!*arch)
		return fail_fde(err, 0, "no SFrame ABI of this number",
				-ENOTSUP);
	if (nr > (UINT32_MAX - HEADER_SIZE) / INDEX_SIZE)
		return fail_fde(err, 0, "too many FDEs", -E2BIG);
	return 0;
}

/* Returns the FDE's bytes in the FRE area, or an error. */
static inline int64_t checked_size(const struct sfg_arch *arch,
				   struct plain_kinds kinds,
				   const struct sfjit_function *fde, size_t i,
				   struct sfg_error *err)
{
	int64_t size = plain_block_size(kinds, fde);
	int ret;

	if (size)
		return size;
	ret = check_input_rows(arch, fde, i, err);
	return ret ? ret : (int64_t)sfg_block_size(arch, fde);
}

int sfg_section_size(unsigned int abi, const struct sfjit_function *fdes,
		     size_t nr_fdes, size_t *size, struct sfg_error *err)
{
	const struct sfg_arch *arch;
	struct plain_kinds kinds;
	uint64_t end = 0;
	size_t i, fres = 0;
	int64_t n = check_abi(abi, nr_fdes, &arch, err);

	if (n)
		return n;
	kinds = plain_kinds(arch);
	for (i = 0; i < nr_fdes; i++) {
		n = check_fde(&fdes[i], i, end, err);
		if (!n)
			n = checked_size(arch, kinds, &fdes[i], i, err);
		if (n < 0)
			return n;
		fres += n;
		end = fdes[i].addr + fdes[i].size;
	}
	if (fres > UINT32_MAX)
		return fail_fde(err, 0, "section is over 4 GiB", -E2BIG);
	*size = HEADER_SIZE + nr_fdes * INDEX_SIZE + fres;
	return 0;
}

/* The state of writing. FDE indices are for errors only. */
struct writer {
	const struct sfg_arch *arch;
	struct plain_kinds kinds;
	const struct sfjit_function *fde, *end;
	uint64_t addr;		/* of the first byte of 'index' */
	uint8_t *index, *p, *fres, *limit;
	uint64_t end_before;
	uint32_t nr_fres;
};

/*
 * Whether there is room for plain rows: start, info and at most two words each.
 */
static inline bool has_plain_room(const struct writer *w)
{
	size_t room = w->limit - w->p, size;

	if (room >= ATTR_SIZE + (size_t)w->fde->nr_rows * (4 + 1 + 2))
		return true;
	size = plain_block_size(w->kinds, w->fde);
	return size && size <= room;
}

/* Steps over the FDE whose block of 'size' bytes is at w->p. */
static inline void next_fde(struct writer *w, bool swap, size_t size)
{
	const struct sfjit_function *fde = w->fde++;

	put_index(swap, w->index, w->addr, fde, w->p - w->fres);
	w->index += INDEX_SIZE;
	w->addr += INDEX_SIZE;
	w->p += size;
	w->nr_fres += fde->nr_rows;
	w->end_before = fde->addr + fde->size;
}

static inline bool write_plain_fde(struct writer *w)
{
	size_t size;

	if (w->fde->nr_rows > UINT16_MAX ||
	    sfg_check_range(w->fde, w->end_before) || !has_plain_room(w))
		return false;
	size = write_plain_block(w->kinds, w->fde, w->p);
	if (size)
		next_fde(w, false, size);
	return size;
}

/* A local copy can stay in registers. */
static void write_plain_fdes(struct writer *writer)
{
	struct writer w = *writer;

	while (w.fde != w.end && write_plain_fde(&w))
		;
	*writer = w;
}

static int write_any_fde(struct writer *w, size_t i, struct sfg_error *err)
{
	int ret = check_fde(w->fde, i, w->end_before, err);

	if (!ret)
		ret = check_input_rows(w->arch, w->fde, i, err);
	if (ret)
		return ret;
	if ((size_t)(w->limit - w->p) < sfg_block_size(w->arch, w->fde))
		return fail_fde(err, i, "buffer is too small", -ENOSPC);
	next_fde(w, arch_swaps(w->arch),
		 sfg_write_block(w->arch, w->fde, w->p));
	return 0;
}

static int write_fdes(struct writer *w, struct sfg_error *err)
{
	const struct sfjit_function *first = w->fde;
	int ret = 0;

	do {
		write_plain_fdes(w);
		if (w->fde != w->end)
			ret = write_any_fde(w, w->fde - first, err);
	} while (!ret && w->fde != w->end);
	return ret;
}

int sfg_write_section(unsigned int abi, const struct sfjit_function *fdes,
		      size_t nr_fdes, uint64_t section_addr,
		      void *buf, size_t len, size_t *used,
		      struct sfg_error *err)
{
	struct writer w;
	const struct sfg_arch *arch;
	size_t fres = HEADER_SIZE + nr_fdes * INDEX_SIZE;
	int ret = check_abi(abi, nr_fdes, &arch, err);

	if (ret)
		return ret;
	if (len < fres)
		return fail_fde(err, 0, "buffer is too small", -ENOSPC);
	w = (struct writer){
		.arch = arch, .kinds = plain_kinds(arch),
		.fde = fdes, .end = fdes + nr_fdes,
		.addr = section_addr + HEADER_SIZE,
		.index = (uint8_t *)buf + HEADER_SIZE,
		.p = (uint8_t *)buf + fres, .fres = (uint8_t *)buf + fres,
		.limit = (uint8_t *)buf + len,
	};
	ret = write_fdes(&w, err);
	if (ret)
		return ret;
	if (w.p - w.fres > UINT32_MAX)
		return fail_fde(err, 0, "section is over 4 GiB", -E2BIG);
	sfg_write_header(arch, buf, nr_fdes, w.nr_fres, w.p - w.fres);
	*used = w.p - (uint8_t *)buf;
	return 0;
}

static struct writer writer_at(const struct sfg_arch *arch,
			       const struct sfjit_function *fde,
			       const struct sfg_place *place)
{
	return (struct writer){
		.arch = arch, .kinds = plain_kinds(arch), .fde = fde,
		.end = fde + 1, .addr = place->index_addr,
		.index = place->index, .p = place->rows,
		.fres = (uint8_t *)place->rows - place->fre_off,
		.limit = (uint8_t *)place->rows + place->len,
		.end_before = place->end_before,
	};
}

static size_t used_at(const struct sfg_place *place, const struct writer *w)
{
	return w->p - (uint8_t *)place->rows;
}

/* Not inlined, so that the writer of plain rows stays in registers. */
__attribute__((noinline))
static int write_any_at(const struct sfg_arch *arch,
			const struct sfjit_function *fde,
			const struct sfg_place *place, size_t *used,
			struct sfg_error *err)
{
	struct writer w = writer_at(arch, fde, place);
	int ret = write_any_fde(&w, 0, err);

	if (!ret)
		*used = used_at(place, &w);
	return ret;
}

int sfg_write_fde(unsigned int abi, const struct sfjit_function *fde,
		  const struct sfg_place *place, size_t *used,
		  struct sfg_error *err)
{
	const struct sfg_arch *arch;
	int ret = check_abi(abi, 1, &arch, err);
	struct writer w;

	if (ret)
		return ret;
	if (!arch_cfas_are_usual(arch, fde->rows, fde->nr_rows) &&
	    !sfg_cfas_are_possible(abi, fde->rows, fde->nr_rows))
		return fail_fde(err, 0, "no step by a row is possible",
				-EINVAL);
	w = writer_at(arch, fde, place);
	if (!write_plain_fde(&w))
		return write_any_at(arch, fde, place, used, err);
	*used = used_at(place, &w);
	return 0;
}
