/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Shared by the files of libsframegen; not a public header. */
#ifndef SFRAMEGEN_CORE_H
#define SFRAMEGEN_CORE_H

#include <errno.h>
#include <grow.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sfjit/packed.h>

#include "sframegen.h"

/* Not of version 3: of a rule whose next word is added, see SFG_INPUT_ADDENDS. */
#define SFRAME_FLEX_ADDEND	0x4

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * How relocations change a place, with the psABIs' letters: ABS is S + A, PC is
 * S + A - P, ADD is V + S + A and SUB is V - S - A, where V is the place's
 * value; 6 means the lower 6 bits of a byte.
 */
enum sfg_reloc_kind {
	RELOC_UNKNOWN, RELOC_NONE, RELOC_ABS, RELOC_PC, RELOC_ADD, RELOC_SUB,
	RELOC_ABS6, RELOC_SUB6,
};

struct sfg_reloc {
	uint16_t type;
	uint8_t kind;
	uint8_t size;
};

/* An instruction, by the bits of 'mask' in its first four bytes. */
struct sfg_nop {
	uint8_t len;
	uint32_t bits, mask;
};

#define SFG_MAX_NOPS	3

/*
 * Where a function that keeps frame pointers stores its record: the caller's
 * frame pointer and the return address. Its own frame pointer points to it.
 */
enum { RECORD_NONE, RECORD_AT_END, RECORD_ANYWHERE };

/* All that the converter knows about an architecture. */
struct sfg_arch {
	const char *name;
	uint32_t abi;			/* SFRAME_ABI_*, SFG_ABI_ELF() */
	uint8_t trial_abi;		/* with that: see sfg_trial_abi() */
	uint8_t ei_data;		/* ELFDATA2LSB or ELFDATA2MSB */
	uint16_t e_machine;
	bool big_endian;
	uint8_t unit_shift;		/* instructions are at multiples of 1 << */
	int8_t fixed_ra;		/* RA at CFA + this; 0: per row */
	uint8_t sp, fp, ra;		/* DWARF numbers */
	uint8_t third;			/* rbx's, or 0 */
	uint8_t pc;			/* what expressions read as the pc */
	uint32_t regs;			/* bit n: a rule may name register n */
	uint32_t kept;			/* bit n: functions leave it as it is */
	int16_t sp_bias;		/* caller's SP = CFA + this */
	bool sp_kept;			/* a saved SP is CFA + sp_bias by ABI */
	uint8_t cfa_scale;		/* CFA words: (offset + sp_bias) / it */
	bool fp_needs_ra;		/* DEFAULT: no FP word without RA's */
	uint8_t record;			/* RECORD_* */
	bool mangled_ra;
	/* Padding of toolchains, or a function that recognizes it. */
	struct sfg_nop nops[SFG_MAX_NOPS];
	size_t (*nop_len)(const uint8_t *p, size_t len);
	const char *const *reg_names;	/* of 0 to 15; NULL: r0 and so on */
	const uint8_t *perf_regs;	/* perf's numbers; NULL: the same */
	uint8_t perf_pc;		/* 0: perf's numbers are unknown */
	/*
	 * Relocations of .eh_frame, .debug_frame and .sframe. All are RELA: the
	 * addend is not in the place.
	 */
	const struct sfg_reloc *relocs;
};

#define NO_REG	0xff

/* machines.c */
extern const struct sfg_arch sfg_arches[];
extern const size_t sfg_nr_machines;

const struct sfg_arch *sfg_find_arch(unsigned int abi);

/* arch.c: the two kinds of sfg_padding(). */
size_t sfg_leading_nops(const struct sfg_arch *arch, const uint8_t *p,
			size_t len);
size_t sfg_leading_zeros(const uint8_t *p, size_t len);

/*
 * Includes ABIs for which SFrame has no number: they have CFI and rows. A
 * function that a JIT publishes looks this up several times, so the first
 * entry, the host's, is tested first.
 */
static inline const struct sfg_arch *sfg_any_arch(unsigned int abi)
{
	return abi == sfg_arches[0].abi ? &sfg_arches[0] : sfg_find_arch(abi);
}

/* ABI numbers of section headers are below this. */
#define SFG_NR_ABIS	256

static inline const struct sfg_arch *sfg_arch_by_abi(unsigned int abi)
{
	return abi < SFG_NR_ABIS ? sfg_any_arch(abi) : NULL;
}

int sfg_fail(struct sfg_error *err, size_t offset, const char *reason,
	     int code);

/* The CFA offset that a word encodes, which may exceed a row's. */
static inline int64_t arch_cfa_offset(const struct sfg_arch *arch, int32_t word)
{
	return (int64_t)word * arch->cfa_scale - arch->sp_bias;
}

/* Stack addresses are multiples of this. */
#define STACK_WORD	8

/* Calls that store the return address put it right below the CFA. */
static inline int32_t arch_entry_offset(const struct sfg_arch *arch)
{
	return arch->fixed_ra ? -arch->fixed_ra : -arch->sp_bias;
}

/*
 * Whether all CFA offsets are multiples of 8 and not below the entry's, as most
 * are. Collects bits rather than branching for each row.
 */
static inline bool arch_cfas_are_usual(const struct sfg_arch *arch,
				       const struct sfjit_row *rows, size_t nr)
{
	const struct sfjit_row *row, *end = rows + nr;
	uint32_t least = arch_entry_offset(arch);
	uint32_t bits = 0, offset;

	for (row = rows; row != end; row++) {
		offset = row->cfa.offset;
		bits |= offset % STACK_WORD | (offset | (offset - least)) >> 31;
	}
	return !bits;
}

static inline bool arch_has_reg(const struct sfg_arch *arch, uint64_t reg)
{
	return reg < 32 && arch->regs & (1u << reg);
}

static inline bool frame_has(const struct sfg_frame *frame, uint64_t reg)
{
	return reg < 32 && frame->known & (1u << reg);
}

/* Whether a sorted list contains the offset. */
static inline bool sfg_has_offset(const size_t *list, size_t nr, size_t offset)
{
	size_t lo = 0, hi = nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (list[mid] < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && list[lo] == offset;
}

/*
 * Returns the range that contains all of the code, or NULL. Ranges are sorted.
 */
static inline const struct sfg_image *
sfg_range_of(const struct sfg_image *ranges, size_t nr, uint64_t start,
	     uint64_t size)
{
	size_t lo = 0, hi = nr, mid;
	const struct sfg_image *range;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (ranges[mid].addr <= start)
			lo = mid;
		else
			hi = mid;
	}
	if (!nr)
		return NULL;
	range = &ranges[lo];
	return start >= range->addr &&
	       start - range->addr < range->len &&
	       size <= range->len - (start - range->addr) ? range : NULL;
}

/* Reads at most SFG_READ_MAX bytes of a range; NULL: they cannot be read. */
static inline const uint8_t *sfg_text_at(const struct sfg_input *in,
					 const struct sfg_image *range,
					 uint64_t addr, size_t len)
{
	if (range->data)
		return (const uint8_t *)range->data + (addr - range->addr);
	return in->read_text ? in->read_text(in->read_arg, addr, len) : NULL;
}

static inline uint16_t swap16(bool swap, uint16_t v)
{
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t swap32(bool swap, uint32_t v)
{
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t swap64(bool swap, uint64_t v)
{
	return swap ? __builtin_bswap64(v) : v;
}

static inline bool arch_swaps(const struct sfg_arch *arch)
{
	return arch->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* cfi_expr.c: the value of a DWARF expression. */
enum sfg_value_kind {
	SFG_VALUE_CONST,	/* offset */
	SFG_VALUE_PC,		/* pc + offset */
	SFG_VALUE_REG,		/* reg + offset */
	SFG_VALUE_CFA,		/* CFA + offset */
	SFG_VALUE_REG_LOAD,	/* the word at reg + offset */
	SFG_VALUE_CFA_LOAD,	/* the word at CFA + offset */
};

struct sfg_value {
	enum sfg_value_kind kind;
	unsigned int reg;
	int64_t offset;
	int64_t addend;		/* to a loaded word */
};

struct sfg_expr {
	const struct sfg_arch *arch;
	const uint8_t *code;
	size_t len;
	bool cfa_pushed;	/* rules of registers start from the CFA */
	uint64_t pc;
	unsigned int *period;	/* raised when the value depends on the pc */
	uint64_t *budget;	/* operations left for the whole input */
	/* If set, registers and memory are known, and values are constants. */
	const struct sfg_frame *frame;
	uint64_t cfa;
};

/* False: another kind of value, or a damaged expression. */
bool sfg_eval(const struct sfg_expr *expr, struct sfg_value *value);

/* row.c: whether the format can encode a row, and as DEFAULT. */
bool sfg_row_fits(const struct sfg_arch *arch, const struct sfjit_row *row);
/* Whether a packed table has it as PLAIN; for rows that fit. */
bool sfg_row_is_plain(const struct sfg_arch *arch, const struct sfjit_row *row);
bool sfg_row_is_default(const struct sfg_arch *arch,
			const struct sfjit_row *row);

/* encode.c: one FDE's attribute and rows. */
#define SFG_MAX_WORDS	7

struct sfg_words {
	int32_t word[SFG_MAX_WORDS];
	unsigned int nr;
	uint32_t bits;		/* OR of the words' bits: tells their size */
};

/* Bytes of a row without its start. */
size_t sfg_row_size(const struct sfg_arch *arch, const struct sfjit_row *row,
		    bool flex);
size_t sfg_block_size(const struct sfg_arch *arch,
		      const struct sfjit_function *fde);
/* Writes sfg_block_size() bytes. */
size_t sfg_write_block(const struct sfg_arch *arch,
		       const struct sfjit_function *fde, uint8_t *buf);
void sfg_write_header(const struct sfg_arch *arch, uint8_t *buf,
		      uint32_t nr_fdes, uint32_t nr_fres, uint32_t fre_len);
void sfg_write_index(const struct sfg_arch *arch, uint8_t *buf,
		     uint64_t field_addr, const struct sfjit_function *fde,
		     uint32_t fre_off);

static inline unsigned int sfg_start_shift(uint32_t start)
{
	return (start > 0xff) + (start > 0xffff);
}

/* Whether an FDE's fields are those of one after 'end_before'. */
static inline const char *sfg_check_range(const struct sfjit_function *fde,
					  uint64_t end_before)
{
	uint32_t end = fde->repeat ? fde->repeat : fde->size;

	if (!fde->size || fde->addr + fde->size < fde->addr)
		return "FDE has a bad size";
	if (fde->addr < end_before)
		return "FDEs are not sorted or overlap";
	if (!fde->nr_rows)
		return fde->flags & SFJIT_FUNCTION_SIGNAL ? NULL :
		       "FDE without rows";
	if (fde->rows[0].start)
		return "first row does not start at 0";
	if (fde->rows[fde->nr_rows - 1].start >= end)
		return "row starts past its FDE";
	return NULL;
}

/* builder.c: collects rows into ranges, and sorts these at the end. */
struct sfg_builder {
	struct sfjit_row *rows;
	size_t nr_rows, max_rows;
	struct range {
		uint64_t addr;
		uint32_t size;
		uint32_t nr_rows;
		size_t first_row;
		uint8_t flags;
		uint8_t rep_size;
	} *ranges;
	size_t nr_ranges, max_ranges;
	bool open;		/* the last range goes on where it ends */
	struct sfg_hole *holes;
	size_t nr_holes, max_holes;
};

/* Code whose CFI gives no row: never padding, whatever its bytes are. */
struct sfg_hole {
	uint64_t lo, hi;
};

/*
 * Code [lo, hi) follows 'row', whose start is ignored. Extends the last range,
 * or starts one at 'lo' with 'flags' if that was closed.
 */
int sfg_add_row(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		uint8_t flags, const struct sfjit_row *row);
/* Code [lo, hi) repeats the rows every rep_size bytes from lo. */
int sfg_add_repeat(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		   uint8_t flags, unsigned int rep_size,
		   const struct sfjit_row *rows, unsigned int nr);
int sfg_add_signal(struct sfg_builder *b, uint64_t lo, uint64_t hi,
		   uint8_t flags);
/* Also closes the range. */
int sfg_add_hole(struct sfg_builder *b, uint64_t lo, uint64_t hi);
void sfg_close_range(struct sfg_builder *b);
void sfg_free_builder(struct sfg_builder *b);
/* Sorts the holes, which stay the builder's. */
int sfg_builder_fdes(struct sfg_builder *b, struct sfg_fdes *fdes);

/* bare.c: counts executable code without an FDE, in address order. */
struct sfg_bare {
	const struct sfg_arch *arch;
	const struct sfg_input *in;
	const struct sfg_image *code;
	size_t nr_code, at;
};

/* Bytes of code in [from, to), which has no FDE. */
uint64_t sfg_count_bare(struct sfg_bare *b, uint64_t from, uint64_t to);

/*
 * code.c: adds derived rows for code in [lo, hi), which has no FDE, and the
 * bytes they cover to *bytes.
 */
int sfg_add_derived(const struct sfg_input *in, const struct sfg_image *range,
		    uint64_t lo, uint64_t hi, struct sfg_builder *rows,
		    uint64_t *bytes);

/*
 * pack.c: makes the section from FDEs with canonical rows; equal blocks are
 * stored once.
 */
int sfg_pack(const struct sfg_arch *arch, const struct sfg_fdes *fdes,
	     uint64_t section_addr, struct sfg_output *out,
	     struct sfg_summary *sum);

/*
 * Multiplies by 2^64 divided by the golden ratio, and bytes by the prime of
 * FNV-1a. The low bits choose the slot, so fold the high ones in. An attacker can
 * make hashes collide: users bound their searches.
 */
static inline uint64_t sfg_hash_bytes(const uint8_t *p, size_t len)
{
	uint64_t h = len, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	for (; len; p++, len--)
		h = (h ^ *p) * 0x100000001b3;
	return h ^ h >> 29;
}

/* packed.c: a rule in the byte order of this machine, with its addend. */
struct packed_rule {
	struct sframe_packed_rule r;
	int32_t addend;
};

void sfg_encode_rule(const struct sfg_arch *arch, const struct sfjit_row *row,
		     uint8_t flags, struct packed_rule *rule);
/* Writes a rule, and its addend if it has one; returns what follows. */
uint8_t *sfg_put_rule(const struct sfg_arch *arch,
		      const struct packed_rule *rule, uint8_t *p);

/* Buckets and changes that are in proportion to FDEs and rows. */
struct packed_limits {
	uint64_t buckets, changes;
};

/* Checks FDEs, and sets the limits. */
int sfg_check_packed_input(const struct sfg_arch *arch,
			   const struct sfjit_function *fdes, size_t nr,
			   struct packed_limits *limits, struct sfg_error *err);
/* 0, or -E2BIG or -ENOMEM with a reason. */
int sfg_end_packed(int ret, struct sfg_error *err);
/* The rules of all FDEs repeat: there is one, and blocks and units agree. */
bool sfg_packed_repeats(const struct sfg_arch *arch,
			const struct sfjit_function *fdes, size_t nr);

/*
 * layout.c: redistributes rows over FDEs to minimize the section. Changes rows
 * and FDEs in place or replaces the arrays.
 */
int sfg_layout(const struct sfg_arch *arch, const struct sfg_input *in,
	       const struct sfg_hole *holes, size_t nr_holes,
	       struct sfg_fdes *fdes, struct sfg_summary *sum);

/*
 * split.c: counts functions that have more rows than an FDE may, and their
 * FDEs.
 */
void sfg_count_split(const struct sfjit_function *functions, size_t nr,
		     const struct sfjit_function *fdes, size_t nr_fdes,
		     unsigned int max_rows, struct sfg_summary *sum);

#endif /* SFRAMEGEN_CORE_H */
