/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * libsframegen: DWARF call frame information to SFrame version 3, plain or with
 * addends (Documentation/addend.rst).
 *
 * Conventions of every function here:
 *  - what can fail returns 0 or a negative errno. Unless said otherwise below,
 *    no output argument but the struct sfg_error (which may be NULL) has been
 *    written then;
 *  - thread-safe, no global state, no locks, no signals; only sfg_convert(),
 *    sfg_derive(), sfg_list_functions(), sfg_write_packed(), sfg_open_cfi() and
 *    sfg_find_code_row() allocate (malloc), everything else is async-signal-safe;
 *  - input bytes are hostile: never read outside the given ranges, time
 *    O(n log n) and memory O(n) in their length;
 *  - addresses are of the 64-bit target, lengths and offsets are bytes.
 *
 * Errnos:
 *  EINVAL	malformed CFI or SFrame section; FDEs or rows that the format
 *		rejects; text ranges or FDEs that are not sorted; flags that
 *		are not known here
 *  ENOTSUP	the ABI is not known here, nor (sfg_open_section()) the version
 *		of the section; sfg_make_window_cfi(): DWARF expressions of the
 *		ABI cannot, or not for these rows
 *  E2BIG	a count, an offset or the length of an input or a section does
 *		not fit its field in the format
 *  ENOSPC	sfg_write_section(), sfg_write_fde(), sfg_fill_packed(): the
 *		buffer is too small
 *  ENOENT	sfg_read_fde(): no FDE has this index; sfg_read_row(): no row
 *		is left; sfg_find_row(): no FDE, or no row of it, covers the
 *		address
 *  ENOMEM	sfg_convert(), sfg_derive(), sfg_list_functions(),
 *		sfg_write_packed(), sfg_open_cfi(), sfg_find_code_row(): out of
 *		memory
 */
#ifndef SFRAMEGEN_H
#define SFRAMEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfjit/format.h>
#include <sfjit/packed.h>
#include <sfjit/rows.h>
#include <sfjit/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where and why an input was refused; 'reason' is a string constant. */
struct sfg_error {
	size_t offset;		/* from the start of the refused buffer */
	const char *reason;
};

/*
 * Rows to SFrame bytes, for code generators: size, then fill. No allocation.
 * Each function becomes one FDE.
 *
 * FDEs must be sorted by address and must not overlap; row starts must
 * strictly increase and lie inside the FDE (or block). 'section_addr' is
 * where the section will be mapped. An upper bound that needs no call:
 * SFG_SECTION_MAX(number of FDEs, number of all rows).
 *
 * sfg_section_size() checks the input and stores the exact size.
 * sfg_write_section() checks it too and writes at most 'len' bytes, of which
 * there are *used; after a failure the bytes of 'buf' are undefined.
 */
#define SFG_SECTION_MAX(nr_fdes, nr_rows) \
	(28 + (size_t)(nr_fdes) * 21 + (size_t)(nr_rows) * 33)

int sfg_section_size(unsigned int abi, const struct sfjit_function *fdes,
		     size_t nr_fdes, size_t *size, struct sfg_error *err);
int sfg_write_section(unsigned int abi, const struct sfjit_function *fdes,
		      size_t nr_fdes, uint64_t section_addr,
		      void *buf, size_t len, size_t *used,
		      struct sfg_error *err);

/* The same check of one function, also for ABIs that have no sections. */
int sfg_check_function(unsigned int abi, const struct sfjit_function *function,
		       struct sfg_error *err);

/*
 * One FDE of a section that grows. It is written to 'index', its rows to
 * 'rows', at most 'len' bytes, of which there are *used; the header is left
 * alone. -EINVAL when the FDE starts before 'end_before', or by
 * sfg_cfas_are_possible(). After a failure the bytes at 'index' and 'rows' are
 * undefined.
 */
struct sfg_place {
	void *index;			/* bytes of struct sframe_fde */
	uint64_t index_addr;		/* of 'index' in the target */
	void *rows;
	size_t len;
	uint32_t fre_off;		/* of 'rows', inside the FRE area */
	uint64_t end_before;
};

int sfg_write_fde(unsigned int abi, const struct sfjit_function *fde,
		  const struct sfg_place *place, size_t *used,
		  struct sfg_error *err);

/*
 * Adds 'delta' to the address of every FDE of a section in memory. Needs
 * only a readable header; -EINVAL, and nothing is changed, when that is
 * damaged, unknown here, or the FDEs are not inside 'len'.
 * A section made with section_addr 0 for link-time addresses, mapped at S
 * for a module with load bias B, is rebased by B - S.
 */
int sfg_rebase(void *section, size_t len, int64_t delta);

/*
 * Call frame information to SFrame
 */

/* 'len' bytes that are at 'addr' in the target; 'data' is borrowed. */
struct sfg_image {
	const void *data;
	size_t len;
	uint64_t addr;
};

/*
 * Go's table of functions, .gopclntab, which the runtime needs and strip leaves. It
 * has the depth of the stack at each address. sfg_open_go() checks the index of the
 * table, whose bytes 'table' has, up to the end of their segment at most;
 * sfg_find_go() searches them for it first. The members are for the library.
 *
 * 'bias' is what the addresses in the bytes are above link-time addresses, as in
 * memory that was relocated. 'text' are the executable ranges, sorted: Go's code is
 * in one of them. From Go 1.26 on the table does not tell where: 'data' are the bytes
 * of writable data, in which the runtime has the address.
 *
 * ENOENT: no table, or not where its text is; ENOTSUP: of a machine other than AMD64,
 * or of a version that is not known; EINVAL: damaged. Go 1.2 to 1.26 are known.
 */
struct sfg_go {
	unsigned int abi;
	struct sfg_image table;
	uint64_t bias;
	uint64_t text, text_end;	/* of Go's code */
	size_t names, deltas, functions;
	uint32_t nr;
	uint8_t layout;
};

struct sfg_go_input {
	unsigned int abi;
	struct sfg_image table;
	uint64_t bias;
	const struct sfg_image *text;
	size_t nr_text;
	const struct sfg_image *data;
	size_t nr_data;
};

int sfg_open_go(struct sfg_go *go, const struct sfg_go_input *in,
		struct sfg_error *err);
int sfg_find_go(struct sfg_go *go, const struct sfg_go_input *in,
		struct sfg_error *err);

#define SFG_INPUT_DEBUG_FRAME	0x1	/* 'cfi' is .debug_frame */
#define SFG_INPUT_ADDENDS	0x2	/* rows may have addends, see below */
#define SFG_INPUT_BASES		0x4	/* text_base and data_base are known */
#define SFG_INPUT_CALLED	0x8	/* gaps were just called, see below */
#define SFG_INPUT_CODE		0x10	/* gaps are analysed, see below */
#define SFG_INPUT_PACKED	0x20	/* sfg_convert() makes a packed table */
#define SFG_INPUT_JIT		0x40	/* of generated code, see below */

/* FDEs and the rows of all of them, see sfg_derive(). */
struct sfg_fdes {
	struct sfjit_function *fdes;
	size_t nr;
	struct sfjit_row *rows;
};

/*
 * 'text': the executable ranges, sorted; FDEs outside of them are dropped
 * and counted. Without any (nr_text 0) every FDE is kept. Ranges with data
 * NULL are read by 'read_text', or else nothing is merged over gaps in them. 'code': what of
 * the text is instructions, sorted, where more is known than that it can be
 * executed; code without CFI is counted there. The section may be longer than
 * its CFI when a zero terminator ends it.
 *
 * 'debug_frame' is for functions that nothing in 'cfi' overlaps. If it has an
 * error, none of it is used. Linkers leave functions in a .debug_frame that they
 * have discarded, at address 0: of it (also as 'cfi'), functions outside of
 * 'code' are not used, nor one at address 0 unless 'relocated' tells it.
 *
 * With SFG_INPUT_CALLED, text that no FDE is for gets the row of a function that
 * was just called: stubs that only jump on. If the address of an FDE cannot be
 * read, which text is for no FDE is not known, and there are no such rows. A
 * 'debug_frame' is refused with it.
 *
 * With SFG_INPUT_CODE, rows of code that no FDE is for are derived from its
 * instructions, on the ABIs of which instructions are known here (AMD64). They are
 * certain; code that is not gets none. 'entries' are sorted addresses at which
 * functions begin; 'no_return' are those of words, as of a linkage table, with
 * addresses of functions that do not return. Both help, and neither is needed. If
 * the address of an FDE cannot be read, nothing is derived. It is no use with
 * SFG_INPUT_CALLED, which is for the same text.
 *
 * CFI that does not name a register says that functions preserve it as the psABI
 * wants. Generated code may have other conventions: with SFG_INPUT_JIT, packed
 * tables say only of functions which name rbx where it is.
 *
 * A section in which a row has an addend is not version 3, and nothing in it
 * says so. The kernel refuses such rows; other readers take them for different
 * ones. Packed tables have them, too.
 */
struct sfg_input {
	unsigned int abi;		/* SFRAME_ABI_* */
	unsigned int flags;		/* SFG_INPUT_* */
	struct sfg_image cfi;		/* .eh_frame */
	/*
	 * An index lists FDEs that begin in so many bytes of 'cfi': no zero
	 * terminator before the last of them is the end.
	 */
	size_t cfi_listed;
	/*
	 * .eh_frame_hdr, for sfg_open_cfi() alone: .data NULL: none. With it FDEs
	 * are read when a step needs them; what it does not list, or lists wrong,
	 * is found by reading all of 'cfi'.
	 */
	struct sfg_image index;
	/*
	 * Of an object file: sorted offsets in 'cfi' at which a relocation has
	 * stored an address. One at another offset is not known. NULL: all are.
	 */
	const size_t *relocated;
	size_t nr_relocated;
	struct sfg_image debug_frame;	/* .data NULL: none */
	const struct sfg_image *text;
	size_t nr_text;
	const struct sfg_image *code;
	size_t nr_code;
	/*
	 * See SFG_INPUT_CODE.
	 */
	const uint64_t *entries;
	size_t nr_entries;
	const uint64_t *no_return;
	size_t nr_no_return;
	/*
	 * NULL, or the table of Go's functions: those that 'cfi' leaves out get
	 * rows. 'debug_frame', and 'cfi' if it is that, is not used for Go's code:
	 * the one that Go writes does not tell where the frame pointer is.
	 */
	const struct sfg_go *go;
	/*
	 * NULL, or gives bytes of text or code, up to SFG_READ_MAX of one range;
	 * they stay up to the next call. NULL: they cannot be read.
	 */
	const void *(*read_text)(void *arg, uint64_t addr, size_t len);
	void *read_arg;
	/*
	 * Where the SFrame section will be. Its length is known only after the
	 * conversion: if you allocate then, pass 0 here, and sfg_rebase() the
	 * section by minus its address.
	 */
	uint64_t section_addr;
	/* what pointers of 'cfi' relative to text and data are relative to */
	uint64_t text_base, data_base;
	unsigned int max_rows;		/* per FDE; 0: SFG_MAX_ROWS */
	/*
	 * NULL, or what sfg_convert() lets change the FDEs, which are as from
	 * sfg_derive() and stay sorted, before they are merged and split.
	 * 'fdes' and 'rows', of which each has its own in the same order, are
	 * from malloc(). Its failure is that of the conversion.
	 */
	int (*amend)(const struct sfg_input *in, struct sfg_fdes *fdes);
};

#define SFG_MAX_ROWS		16
#define SFG_READ_MAX		4096

/* Why code that has CFI is not covered; numbers are for this header only. */
enum sfg_reason {
	SFG_COVERED = 0,
	SFG_R_CFA_EXPR,		/* CFA expression beyond the format */
	SFG_R_CFA_NONE,		/* no CFA rule in force */
	SFG_R_CFA_REG,		/* CFA from a register not in the format */
	SFG_R_RA_RULE,		/* return address rule beyond the format */
	SFG_R_RA_NONE,		/* no return address rule, nor a register */
	SFG_R_FP_RULE,		/* frame pointer rule beyond the format */
	SFG_R_SP_RULE,		/* caller's stack pointer is not the CFA */
	SFG_R_OFFSET,		/* offset does not fit 32 bits */
	SFG_R_AUGMENTATION,	/* unknown CIE augmentation or version */
	SFG_R_ENCODING,		/* pointer encoding not usable here */
	SFG_R_RA_COLUMN,	/* return address column is not the ABI's */
	SFG_R_OPCODE,		/* unknown CFI instruction */
	SFG_R_STATE,		/* restore without remember, or too deep */
	SFG_R_OVERLAP,		/* code of an FDE that starts later, inside */
	SFG_R_OUTSIDE,		/* outside of the text: discarded code */
	SFG_R_EMPTY,		/* zero-size function */
	SFG_R_ADDRESS,		/* address that no relocation resolves */
	SFG_R_MAX
};

const char *sfg_reason_text(enum sfg_reason reason);

/*
 * What a conversion did. bytes[SFG_COVERED] is the code that is covered,
 * the other entries what is not. SFG_R_OVERLAP and SFG_R_OUTSIDE count bytes
 * that are no code of this function; they are not in code_bytes.
 */
struct sfg_summary {
	uint64_t functions;		/* FDEs of the input */
	uint64_t covered_functions;	/* without any uncovered byte */
	uint64_t code_bytes;		/* bytes of code with CFI */
	uint64_t bare_bytes;		/* of code without, less padding */
	uint64_t debug_functions;	/* of these, from .debug_frame */
	uint64_t debug_bytes;		/* of their code */
	struct sfg_error debug_frame_error;	/* .reason NULL: none */
	uint64_t bytes[SFG_R_MAX];
	uint64_t affected[SFG_R_MAX];	/* functions by reason */
	uint64_t padding_bytes;		/* covered bytes between functions */
	uint64_t called_bytes;		/* of gaps that were just called */
	uint64_t derived_bytes;		/* of 'bare_bytes', from instructions */
	uint64_t go_bytes;		/* of these, from Go's table */
	uint64_t go_functions;		/* in Go's table */
	uint64_t fdes, rows, blocks;	/* of the output */
	/*
	 * Functions of more rows than an FDE may have, the FDEs that they are
	 * in, and how many bytes more these take than one for each function
	 * (equal blocks counted apart).
	 */
	uint64_t split_functions, split_fdes;
	int64_t split_bytes;
	uint64_t mask_fdes, flex_fdes, signal_fdes;
	uint64_t cfi_bytes;		/* length of the CFI read */
};

/* 'data' is the caller's, to be released with free(). */
struct sfg_output {
	void *data;
	size_t len;
};

int sfg_convert(const struct sfg_input *in, struct sfg_output *out,
		struct sfg_summary *summary, struct sfg_error *err);

/*
 * The same up to the rows: one struct sfjit_function per covered range of each
 * input FDE (nothing merged or split), sorted. Where FDEs overlap, the code is
 * that of the one that starts last, as in libgcc. 'fdes' is released with
 * sfg_free_fdes().
 */
int sfg_derive(const struct sfg_input *in, struct sfg_fdes *fdes,
	       struct sfg_summary *summary, struct sfg_error *err);
void sfg_free_fdes(struct sfg_fdes *fdes);

/*
 * The functions that 'cfi' is for, whether their rows can be expressed or not:
 * sorted by address, and without data. FDEs whose address cannot be read, or
 * that are empty, are left out. 'list' is the caller's, to be released with
 * free().
 */
int sfg_list_functions(const struct sfg_input *in, struct sfg_image **list,
		       size_t *nr, struct sfg_error *err);

/*
 * Bytes of padding that 'code' begins with: zeros, or instructions that do
 * nothing and that no function begins with. 0 for an ABI not known here.
 */
size_t sfg_padding(unsigned int abi, const void *code, size_t len);

/*
 * Reading
 *
 * sfg_open_section() checks header and areas, sfg_read_fde() one FDE,
 * sfg_read_row() one row; sfg_check_section() all of them and the order.
 * The section is borrowed as long as the reader is used.
 */
struct sfg_section {
	const uint8_t *data;
	size_t len;
	uint64_t addr;		/* where the section is in the target */
	const struct sfg_arch *arch;
	struct sframe_header header;	/* in the byte order of this machine */
	size_t fdes_off, fres_off;	/* from the start of the section */
};

/* State of reading the rows of one FDE. */
struct sfg_row_reader {
	const struct sfg_section *section;
	struct sfjit_function fde;		/* .rows is NULL */
	uint8_t flex;
	uint8_t fre_type;
	uint32_t left;			/* rows not yet read */
	size_t pos;			/* of the next row in the section */
	uint64_t next_start;		/* smallest start the next may have */
};

int sfg_open_section(struct sfg_section *section, const void *data, size_t len,
		     uint64_t addr, struct sfg_error *err);
int sfg_read_fde(const struct sfg_section *section, uint32_t index,
		 struct sfg_row_reader *reader, struct sfg_error *err);
/* -ENOENT: no row is left. */
int sfg_read_row(struct sfg_row_reader *reader, struct sfjit_row *row,
		 struct sfg_error *err);
int sfg_check_section(const struct sfg_section *section,
		      struct sfg_error *err);
/*
 * The FDE and row for an address, by binary search. When an FDE covers it but
 * no row does (a signal FDE has none), 'fde' is filled and -ENOENT returned.
 */
int sfg_find_row(const struct sfg_section *section, uint64_t addr,
		 struct sfjit_function *fde, struct sfjit_row *row,
		 struct sfg_error *err);

/*
 * The most rows of all FDEs together that are worth reading. FDEs may share
 * rows: reading those of each could take far longer than the section is long.
 */
uint64_t sfg_max_rows(const struct sfg_section *section);

/*
 * Packed tables (Documentation/packed.rst), which need no search
 *
 * sfg_write_packed() takes FDEs as sfg_write_section() does, and rows with
 * SFG_ROW_FP. -E2BIG: over 4 GiB of code, 65,535 different rules or 1 GiB of
 * blocks; or FDEs so far apart that the index would be long in no proportion to
 * them. An FDE may have any number of rows. 'out' is released with free(). A
 * row that starts inside of an instruction starts with the next one.
 *
 * sfg_packed_size() and sfg_fill_packed() do the same in memory of the caller, like
 * sfg_section_size() and sfg_write_section(), and allocate nothing. text_start is
 * the start of the first FDE. The size does not depend on where that is, but on
 * where the others are from there. Of many FDEs the table is longer than that of
 * sfg_write_packed(), which finds more that is equal. After a failure nothing was
 * written.
 *
 * For tables that grow sfg_init_packed() fills a header, whose numbers are 0, in
 * the byte order of the ABI, and sfg_pack_row() makes the rule of a row. It stores
 * one rule, or two if the row has an addend, and returns how many; -EINVAL if the
 * row is not expressible. 'flags' are those of the function. Without a row the
 * rule is that of a signal trampoline.
 *
 * sfg_open_packed() checks header and length, sfg_check_packed() everything. The
 * table is borrowed as long as the reader is used.
 *
 * sfg_find_packed_row() is sfg_find_row() for a table: 'fde' is the code around
 * the address that is known to have the row, whose start is 0; or, of a table
 * that repeats, all code, and start is that in a block. -ENOENT: nothing is
 * known, and fde->size is 0; or it is a signal trampoline.
 *
 * sfg_next_packed_row() goes through a table, from *at 0 on: the stretches of one
 * row that are known, signal trampolines as FDEs without rows. -ENOENT: the end.
 */
struct sfg_packed {
	const uint8_t *data;
	size_t len;
	const struct sfg_arch *arch;
	struct sframe_packed_header header;	/* as this machine has it */
	uint32_t nr_buckets;
	size_t index_off, blocks_off;
};

/* sfjit_row.flags: the function keeps frame pointers, and rules are 0. */
#define SFG_ROW_FP		SFJIT_ROW_FP

int sfg_write_packed(unsigned int abi, const struct sfjit_function *fdes,
		     size_t nr_fdes, struct sfg_output *out,
		     struct sfg_error *err);
int sfg_packed_size(unsigned int abi, const struct sfjit_function *fdes,
		    size_t nr_fdes, size_t *size, struct sfg_error *err);
int sfg_fill_packed(unsigned int abi, const struct sfjit_function *fdes,
		    size_t nr_fdes, void *buf, size_t len, size_t *used,
		    struct sfg_error *err);
int sfg_init_packed(unsigned int abi, struct sframe_packed_header *header);
int sfg_pack_row(unsigned int abi, const struct sfjit_row *row, uint8_t flags,
		 struct sframe_packed_rule rules[2]);
int sfg_open_packed(struct sfg_packed *table, const void *data, size_t len,
		    struct sfg_error *err);
int sfg_check_packed(const struct sfg_packed *table, struct sfg_error *err);
int sfg_find_packed_row(const struct sfg_packed *table, uint64_t addr,
			struct sfjit_function *fde, struct sfjit_row *row,
			struct sfg_error *err);
int sfg_next_packed_row(const struct sfg_packed *table, uint64_t *at,
			struct sfjit_function *fde, struct sfjit_row *row,
			struct sfg_error *err);

/*
 * Walking
 *
 * A frame of a thread that is interrupted or copied. 'reg' has DWARF numbers.
 * 'read' stores the word at an address, in the byte order of this machine;
 * false: it is not there.
 *
 * A step makes it that of the caller. 'bias' is what code was loaded above its
 * link-time addresses, which sections and CFI have. By a section, of the
 * caller's registers stack and frame pointer are known; by CFI, all that have
 * rules or are preserved by calls. A saved register that would be below the stack
 * pointer and is not there was popped: it is what it is. 1: the frame has no
 * caller. After a failure
 * only 'budget' may have changed:
 *  ENOENT	nothing is known of the code; a section knows nothing of signal
 *		handlers' callers
 *  ENODATA	a register that is needed is not known; in CFI also: a word that
 *		is needed is not there, or an expression is not known here
 *  EFAULT	not by CFI: a word that is needed is not there
 *  ENOTSUP	rules beyond what is known here
 *  E2BIG	'budget' is spent: programs of CFI have no bound
 *  EINVAL	damaged
 */
struct sfg_frame {
	uint64_t pc;
	bool called;		/* the pc is a return address */
	uint32_t known;		/* bit n: reg[n] */
	uint64_t reg[32];
	uint64_t budget;	/* bytes of CFI that all steps together run */
	bool (*read)(void *arg, uint64_t addr, uint64_t *word);
	void *arg;
};

#define SFG_FRAME_BUDGET	(1u << 20)

int sfg_step_section(const struct sfg_section *section, uint64_t bias,
		     struct sfg_frame *frame);
/* By a row, for who keeps them; of a section's row, -ENOENT aside. */
int sfg_step_row(unsigned int abi, const struct sfjit_row *row,
		 struct sfg_frame *frame);
/*
 * By the frame pointer of a function that keeps frame pointers. EINVAL: it leads
 * to no frame. On AArch64 the caller's stack pointer is not known then, and rows
 * that start from it lead on only if they have the frame pointer and the return
 * address side by side.
 */
int sfg_step_fp(unsigned int abi, struct sfg_frame *frame);

/*
 * The row of one address in code without CFI, from the instructions near it, which
 * 'code' has; its start is 0. 'sp' is the stack pointer less the frame pointer there.
 * 'called': 'addr' is a return address, and only what shows that the function
 * keeps a frame pointer counts. ENOENT: the instructions do not tell. A bounded
 * number of them is looked at, of AMD64 alone.
 */
int sfg_find_code_row(unsigned int abi, const struct sfg_image *code,
		      uint64_t addr, int64_t sp, bool called,
		      struct sfjit_row *row);

/*
 * The row of one address in Go's code; its start is 0. 'code' has the bytes of its
 * function, which sfg_go_function_at() tells. 'exact': the caller's address is that of
 * the next instruction, no return address, as of code that a signal interrupted.
 * Errnos:
 *  ENOENT	no function has the address
 *  ENODATA	the table and the instructions do not tell the row, or it is where a
 *		signal handler returns to
 *  ENOMEM	out of memory
 */
int sfg_go_function_at(const struct sfg_go *go, uint64_t addr,
		       struct sfg_image *function);
int sfg_find_go_row(const struct sfg_go *go, const struct sfg_image *code,
		    uint64_t addr, struct sfjit_row *row, bool *exact);

/*
 * CFI that is kept. sfg_open_cfi() looks at what sfg_derive() does, but not at
 * text and code; 'in->cfi' and 'in->index' are borrowed up to sfg_close_cfi(),
 * which takes NULL. sfg_cfi_memory() is what it has allocated by now.
 *
 * With an index, CFI may be read and memory be allocated by each of these
 * functions, also with ENOMEM: no two threads at once may use one 'cfi'. Damaged
 * CFI is found only where a step needs it.
 */
struct sfg_cfi;

int sfg_open_cfi(const struct sfg_input *in, struct sfg_cfi **cfi,
		 struct sfg_error *err);
void sfg_close_cfi(struct sfg_cfi *cfi);
size_t sfg_cfi_memory(const struct sfg_cfi *cfi);
/* Whether it says anything of an address: a step cannot end in ENOENT then. */
bool sfg_has_cfi(struct sfg_cfi *cfi, uint64_t addr);
int sfg_step_cfi(struct sfg_cfi *cfi, uint64_t bias, struct sfg_frame *frame);
/*
 * The row of one address, as a section of this CFI could have it, with addends
 * if it was opened with SFG_INPUT_ADDENDS; its start is 0. What it takes is
 * taken off 'budget'. Errnos are those of a step; ENOENT also for signal frames.
 */
int sfg_find_cfi_row(struct sfg_cfi *cfi, uint64_t addr, uint64_t *budget,
		     struct sfjit_row *row);

/*
 * CFI of a window, for debuggers and unwinders that know no SFrame
 *
 * .eh_frame with a terminator for code that repeats the rows of 'function'
 * every 'slot' bytes, a power of two. The caller stores the address and the
 * size of the window, 8 bytes each, at the two offsets. -ENOTSUP: the ABI has
 * no register that expressions read as the pc (AMD64 has), or the rows are not
 * of the stack pointer and one saved frame pointer.
 */
#define SFG_WINDOW_CFI_MAX	512

struct sfg_window_cfi {
	uint8_t data[SFG_WINDOW_CFI_MAX];
	size_t len;
	size_t start_off, size_off;
};

int sfg_make_window_cfi(unsigned int abi, const struct sfjit_function *function,
			unsigned int slot, struct sfg_window_cfi *cfi);

/*
 * The same of one slot, for the other ABIs: address and size are those of the
 * slot. The rows are taken as they are. -E2BIG: it would be over
 * SFG_WINDOW_CFI_MAX; *cfi is undefined after a failure.
 */
int sfg_make_slot_cfi(unsigned int abi, const struct sfjit_function *function,
		      struct sfg_window_cfi *cfi);

/*
 * CFI of one function, for debuggers and unwinders that know no SFrame
 *
 * .eh_frame with a terminator, and .eh_frame_hdr behind it, which has the last
 * *hdr_size bytes. 'distance' is from the code to where the first byte will be;
 * the address of the code does not matter. The rows are taken as they are, see
 * sfg_section_size() for a check. *used is set, and with -ENOSPC says what is
 * needed. -E2BIG: over 2 GiB.
 */
int sfg_write_cfi(unsigned int abi, const struct sfjit_function *function,
		  uint64_t distance, uint8_t *buf, size_t len, size_t *used,
		  size_t *hdr_size);

/*
 * ABIs and registers
 *
 * Names are string constants, "?" for what has none. They are for messages:
 * that a register has one does not mean that a rule may name it.
 */
const char *sfg_abi_name(unsigned int abi);
const char *sfg_reg_name(unsigned int abi, unsigned int reg);
/* Whether two rows say the same, wherever they start. */
bool sfg_rows_equal(const struct sfjit_row *a, const struct sfjit_row *b);
/*
 * The row of the first instruction of a function, just called; and the DWARF
 * numbers of frame and stack pointer. -ENOTSUP: the ABI is not known here.
 */
int sfg_entry_row(unsigned int abi, struct sfjit_row *row);
int sfg_frame_pointer(unsigned int abi);
int sfg_stack_pointer(unsigned int abi);
/*
 * What perf calls a register: its number in <asm/perf_regs.h>, of the DWARF
 * number 'reg', or of the pc. -ENOTSUP: not known here of this ABI.
 */
int sfg_perf_register(unsigned int abi, unsigned int reg);
int sfg_perf_pc(unsigned int abi);
/*
 * How rows of an ABI are stored: whether there is a word for the return address,
 * 0 if it was not saved; and the offset of the CFA that a word stands for, which
 * may be more than a row can say.
 */
bool sfg_rows_have_ra(unsigned int abi);
/* Whether flags of its rows may say where rbx is. */
bool sfg_rows_have_rbx(unsigned int abi);
int64_t sfg_cfa_of_word(unsigned int abi, int32_t word);
/*
 * Has the row a return address where a call or the function put it? A signal mark
 * then only means that it is exact.
 */
bool sfg_row_is_called(unsigned int abi, const struct sfjit_row *row);
/*
 * Whether steps by the rows can lead to a caller: a CFA that is the stack
 * pointer plus an offset is not below that of the entry row, and stack and frame
 * pointer are multiples of 8 apart from it. The format has offsets that are
 * neither.
 */
bool sfg_cfas_are_possible(unsigned int abi, const struct sfjit_row *rows,
			   size_t nr);
/*
 * 64-bit ABIs that SFrame has no number for, by the ELFDATA2* and EM_* of their
 * files: -ENOTSUP for all that has to do with sections. Rows are derived from
 * their CFI, and CFI is written from rows. A header of a section cannot name
 * them. RISC-V is known, and little-endian 64-bit PowerPC.
 */
#define SFG_ABI_ELF(ei_data, e_machine) \
	((unsigned int)(ei_data) << 16 | (e_machine))

/*
 * The same machine under a number that a header can have, made up here, to try
 * the format on it: sections are written and read as of any other machine. No
 * kernel and no other tool knows these numbers, and they may change. 0: SFrame
 * has one for it, or it is not known.
 */
unsigned int sfg_trial_abi(unsigned int abi);

/* Whether expressions of CFI may look at the pc, see sfg_make_window_cfi(). */
bool sfg_expressions_see_pc(unsigned int abi);
/* Whether there are sections for an ABI. */
bool sfg_abi_has_sframe(unsigned int abi);
/*
 * SFRAME_ABI_*, or SFG_ABI_ELF(), of an ELF machine and byte order; 0 when it is
 * not known here.
 */
unsigned int sfg_abi_of_elf(unsigned int e_machine, unsigned int ei_data);
/* The machine of ELF files of an ABI, EM_*; 0 when there is none. */
unsigned int sfg_elf_machine(unsigned int abi);

/* The ABI that the library is compiled for; 0 when it is not known. */
extern const unsigned int sfg_host_abi;
#define SFG_HOST_ABI	sfg_host_abi

#ifdef __cplusplus
}
#endif

#endif /* SFRAMEGEN_H */
