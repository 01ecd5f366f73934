/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* From .eh_frame bytes to rows: records, instructions, rules. */
#ifndef SFRAMEGEN_CFI_H
#define SFRAMEGEN_CFI_H

#include "core.h"
#include "cursor.h"

enum cfi_rule_kind {
	CFI_UNSPECIFIED = 0,	/* CFA: no rule; registers: the ABI's */
	CFI_SAME_VALUE,
	CFI_UNDEFINED,
	CFI_OFFSET,		/* saved at CFA + offset */
	CFI_VAL_OFFSET,		/* is CFA + offset */
	CFI_REGISTER,		/* is reg (the CFA: reg + offset) */
	CFI_EXPRESSION,		/* saved where the expression says */
	CFI_VAL_EXPRESSION,	/* is (also the CFA) what it says */
	CFI_REFUSED,		/* .refused says why */
};

struct cfi_rule {
	uint8_t kind;		/* enum cfi_rule_kind */
	uint8_t refused;	/* enum sfg_reason */
	uint64_t reg;
	int64_t offset;
	uint32_t expr, expr_len;	/* in the CFI */
};

/* Rules of the registers that SFrame describes, and of one more. */
struct cfi_state {
	struct cfi_rule cfa, ra, fp, sp, other;
	uint8_t mangled_ra;		/* enum cfi_mangled */
};

/* Bit 0 of AArch64's RA_SIGN_STATE. */
enum cfi_mangled { CFI_PLAIN_RA, CFI_MANGLED_RA, CFI_UNKNOWN_RA };

struct cfi_cie {
	uint32_t offset;		/* of its record */
	uint32_t program, program_end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_column;
	uint8_t pointer_encoding;
	uint8_t augmentation_data;	/* FDEs have some, too */
	uint8_t fde_flags;		/* SFG_FDE_* */
	uint8_t refused;		/* enum sfg_reason, for all its FDEs */
	struct cfi_state initial;
};

struct cfi_fde {
	uint64_t start, size;
	uint32_t cie;			/* index */
	uint32_t program, program_end;
	uint32_t offset;		/* of its record */
};

struct cfi_table {
	const struct sfg_arch *arch;
	uint8_t other;			/* register, or NO_REG */
	bool debug_frame;
	const uint8_t *data;
	uint64_t addr;
	const size_t *relocated;	/* as in struct sfg_input */
	size_t nr_relocated;
	bool bases;			/* the next two are known */
	uint64_t text_base, data_base;
	size_t len;			/* up to the terminator, once it is read */
	size_t listed;			/* as in struct sfg_input */
	struct cfi_cie *cies;
	size_t nr_cies, max_cies;
	struct cfi_fde *fdes;		/* by address, then by offset */
	size_t nr_fdes, max_fdes;
	uint64_t budget;		/* expression operations left */
	bool addends;			/* rows may have them */
	bool third;			/* rows say where that register is */
	bool jit;			/* of generated code */
	uint64_t refused_fdes[SFG_R_MAX];	/* unknown addresses */
};

/* overlap.c: a part of an FDE that belongs to no later FDE. */
struct cfi_piece {
	uint64_t lo, hi;
	size_t fde;		/* its index */
};

/*
 * Returns pieces by address. Takes FDEs sorted by address and offset, none of
 * them empty or wrapping. Release 'pieces' with free().
 */
int sfg_cfi_pieces(const struct cfi_fde *const *fdes, size_t nr,
		   struct cfi_piece **pieces, size_t *nr_pieces);

/* cfi_pointer.c: reads a value of the encoding's size. */
uint64_t sfg_cfi_read_value(struct cursor *c, unsigned int encoding);
/* False for DW_EH_PE_omit, which has no size. */
bool sfg_cfi_known_format(unsigned int encoding);
/* Returns SFG_COVERED, or why the pointer is unknown. */
enum sfg_reason sfg_cfi_read_pointer(const struct cfi_table *t,
				     struct cursor *c, unsigned int encoding,
				     uint64_t *value);

/* All flags of struct sfg_input. */
#define SFG_INPUT_ALL	(SFG_INPUT_DEBUG_FRAME | SFG_INPUT_ADDENDS | \
			 SFG_INPUT_BASES | SFG_INPUT_CALLED | \
			 SFG_INPUT_CODE | SFG_INPUT_PACKED | \
			 SFG_INPUT_JIT)

/*
 * cfi_records.c: sfg_cfi_start_table() reads nothing yet, and needs no
 * sfg_cfi_free_table().
 */
int sfg_cfi_start_table(struct cfi_table *t, const struct sfg_input *in,
			struct sfg_error *err);
int sfg_cfi_read_records(struct cfi_table *t, struct sfg_error *err);
/* Both. */
int sfg_cfi_read_table(struct cfi_table *t, const struct sfg_input *in,
		       struct sfg_error *err);
/*
 * The FDE at an offset in .eh_frame, and its CIE, which was not run. False: there
 * is none, it is refused, or it is longer than usual ones.
 */
bool sfg_cfi_read_fde(const struct cfi_table *t, uint64_t offset,
		      struct cfi_cie *cie, struct cfi_fde *fde);
void sfg_cfi_free_table(struct cfi_table *t);
/* Whether the linker discarded this function of .debug_frame. */
bool sfg_cfi_is_discarded(const struct cfi_table *t, const struct cfi_fde *fde);

/* cfi_index.c: .eh_frame_hdr, which need not be right. */
struct cfi_index {
	const uint8_t *entries;
	size_t nr;		/* 0: there is none that can be used */
	uint64_t addr;		/* that the entries are relative to */
	bool big_endian;
};

void sfg_cfi_open_index(struct cfi_index *index, const struct sfg_input *in,
			bool big_endian);
/* Where in 'cfi' the FDE should be; false: it does not tell. */
bool sfg_cfi_look_up(const struct cfi_index *index, uint64_t addr,
		     uint64_t cfi_addr, uint64_t *offset);

/* cfi_program.c: runs CFI and passes each stretch of code to 'emit'. */
struct cfi_sink {
	int (*emit)(struct cfi_sink *sink, uint64_t lo, uint64_t hi,
		    const struct cfi_state *state, enum sfg_reason refused);
};

int sfg_cfi_run_cie(const struct cfi_table *t, struct cfi_cie *cie,
		    struct sfg_error *err);
int sfg_cfi_run_fde(const struct cfi_table *t, const struct cfi_fde *fde,
		    struct cfi_sink *sink, struct sfg_error *err);

/*
 * cfi_rules.c: makes the row for a state at a pc, or says why there is none. If
 * the row depends on the pc modulo a power of two, raises *period to it.
 */
enum sfg_reason sfg_cfi_make_row(struct cfi_table *t,
				 const struct cfi_state *state, uint64_t pc,
				 struct sfjit_row *row, unsigned int *period);

#endif /* SFRAMEGEN_CFI_H */
