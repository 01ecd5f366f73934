// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Description: each CFI instruction gives the rows that DWARF says. */
#include "test.h"

#define CODE	0x1000
#define SIZE	0x40

static const struct cie amd64_cie = AMD64_PLAIN_CIE;

static const struct cie aarch64_cie = {
	.augmentation = "zR", .version = 1, .code_align = 4,
	.data_align = 0x78, .ra = 30,
	.program = "\x0c\x1f\x00", .program_len = 3,
};

static const struct cie s390x_cie = {
	.augmentation = "zR", .version = 1, .code_align = 1,
	.data_align = 0x78, .ra = 14,
	.program = "\x0c\x0f\xa0\x01", .program_len = 4,
};

struct test {
	const char *name;
	const char *program;
	size_t len;
	const char *want;
};

static const struct test amd64[] = {
	{ "no instruction", P(""), "0-40: 0 CFA=sp+8" },
	{ "DW_CFA_nop", P("\0\0\0"), "0-40: 0 CFA=sp+8" },
	{ "DW_CFA_advance_loc", P("\x41\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 1 CFA=sp+16" },
	{ "DW_CFA_advance_loc1", P("\x02\x21\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 21 CFA=sp+16" },
	{ "DW_CFA_advance_loc2", P("\x03\x21\0\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 21 CFA=sp+16" },
	{ "DW_CFA_advance_loc4", P("\x04\x21\0\0\0\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 21 CFA=sp+16" },
	{ "DW_CFA_MIPS_advance_loc8", P("\x1d\x21\0\0\0\0\0\0\0\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 21 CFA=sp+16" },
	{ "DW_CFA_set_loc", P("\x01\x08\x10\0\0\0\0\0\0\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 8 CFA=sp+16" },
	{ "DW_CFA_set_loc backwards",
	  P("\x48\x01\x04\x10\0\0\0\0\0\0\x0e\x10"),
	  "0-8: 0 CFA=sp+8 !56 restore without remember, or too many" },
	{ "advance past the end", P("\x41\x0e\x10\x04\0\0\0\x10\x0e\x18"),
	  "0-40: 0 CFA=sp+8, 1 CFA=sp+16" },
	{ "advance by 0", P("\x0e\x10\x40\x0e\x18"), "0-40: 0 CFA=sp+24" },
	{ "equal rows are one", P("\x41\x0e\x10\x41\x0e\x10\x41\x0e\x18"),
	  "0-40: 0 CFA=sp+8, 1 CFA=sp+16, 3 CFA=sp+24" },
	{ "DW_CFA_def_cfa", P("\x44\x0c\x06\x10"),
	  "0-40: 0 CFA=sp+8, 4 CFA=fp+16" },
	{ "DW_CFA_def_cfa_sf", P("\x44\x12\x06\x7e"),
	  "0-40: 0 CFA=sp+8, 4 CFA=fp+16" },
	{ "DW_CFA_def_cfa_register", P("\x44\x0d\x06"),
	  "0-40: 0 CFA=sp+8, 4 CFA=fp+8" },
	{ "DW_CFA_def_cfa_offset", P("\x44\x0e\x90\x01"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+144" },
	{ "DW_CFA_def_cfa_offset_sf", P("\x44\x13\x02"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp-16" },
	{ "offset and register at one location", P("\x44\x0e\x10\x0d\x06"),
	  "0-40: 0 CFA=sp+8, 4 CFA=fp+16" },
	{ "CFA from another register", P("\x44\x0c\x0a\x00"),
	  "0-40: 0 CFA=sp+8, 4 CFA=r10" },
	{ "CFA from a register beyond the format", P("\x44\x0c\x11\x08"),
	  "0-4: 0 CFA=sp+8 !60 CFA from a register not in the format" },
	{ "CFA offset beyond 32 bits", P("\x44\x0e\x80\x80\x80\x80\x08"),
	  "0-4: 0 CFA=sp+8 !60 offset beyond the format" },
	{ "DW_CFA_def_cfa_expression: *(fp - 8)",
	  P("\x44\x0f\x03\x76\x78\x06"), "0-40: 0 CFA=sp+8, 4 CFA=[fp-8]" },
	{ "DW_CFA_def_cfa_expression: sp + 8, no load",
	  P("\x44\x0f\x02\x77\x10"), "0-40: 0 CFA=sp+8, 4 CFA=sp+16" },
	{ "DW_CFA_def_cfa_expression: *(sp + 16) + 8",
	  P("\x44\x0f\x05\x77\x10\x06\x23\x08"),
	  "0-4: 0 CFA=sp+8 !60 CFA expression beyond the format" },
	{ "an addend that is taken away again",
	  P("\x44\x0f\x07\x77\x10\x06\x38\x22\x38\x1c"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]" },
	{ "a hole ends where rows go on",
	  P("\x44\x0f\x05\x77\x10\x06\x23\x08\x44\x0c\x07\x08"),
	  "0-4: 0 CFA=sp+8 | 8-40: 0 CFA=sp+8 "
	  "!4 CFA expression beyond the format" },
	{ "offset of an expression", P("\x44\x0f\x03\x76\x78\x06\x44\x0e\x08"),
	  "0-8: 0 CFA=sp+8, 4 CFA=[fp-8] "
	  "!56 CFA expression beyond the format" },
	{ "PLT: (rip & 15) >= 11",
	  P("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	  "0-40 every 16: 0 CFA=sp+8, b CFA=sp+16" },
	{ "PLT that starts inside a block",
	  P("\x44\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	  "0-4: 0 CFA=sp+8 | 4-40 every 16: 0 CFA=sp+8, 7 CFA=sp+16, "
	  "c CFA=sp+8" },
	{ "PLT of one block",
	  P("\x70\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	  "0-40: 0 CFA=sp+8, 3b CFA=sp+16" },
	{ "pc in an expression, not masked", P("\x0f\x02\x80\x00"),
	  " !64 CFA expression beyond the format" },
	{ "DW_CFA_offset fp", P("\x44\x86\x02"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA-16]" },
	{ "DW_CFA_offset of a register that is not followed", P("\x44\x83\x02"),
	  "0-40: 0 CFA=sp+8" },
	{ "DW_CFA_offset_extended", P("\x44\x05\x06\x02"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA-16]" },
	{ "DW_CFA_offset_extended_sf", P("\x44\x11\x06\x7e"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA+16]" },
	{ "DW_CFA_GNU_negative_offset_extended", P("\x44\x2f\x06\x02"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA+16]" },
	{ "DW_CFA_val_offset fp", P("\x44\x14\x06\x02"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=CFA-16" },
	{ "DW_CFA_val_offset_sf fp", P("\x44\x15\x06\x7e"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=CFA+16" },
	{ "DW_CFA_restore", P("\x44\x86\x02\x44\xc6"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA-16], 8 CFA=sp+8" },
	{ "DW_CFA_restore_extended", P("\x44\x86\x02\x44\x06\x06"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA-16], 8 CFA=sp+8" },
	{ "DW_CFA_same_value fp", P("\x44\x86\x02\x44\x08\x06"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA-16], 8 CFA=sp+8" },
	{ "DW_CFA_register fp", P("\x44\x09\x06\x03"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=rbx" },
	{ "DW_CFA_register fp, itself", P("\x44\x09\x06\x06"),
	  "0-40: 0 CFA=sp+8" },
	{ "DW_CFA_undefined fp", P("\x44\x07\x06"),
	  "0-4: 0 CFA=sp+8 !60 frame pointer rule beyond the format" },
	{ "DW_CFA_expression fp: at fp + 0", P("\x44\x10\x06\x02\x76\x00"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[fp]" },
	{ "DW_CFA_expression fp: at CFA - 16", P("\x44\x10\x06\x02\x40\x1c"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[CFA-16]" },
	{ "DW_CFA_expression fp: at a loaded address",
	  P("\x44\x10\x06\x03\x76\x00\x06"),
	  "0-4: 0 CFA=sp+8 !60 frame pointer rule beyond the format" },
	{ "DW_CFA_val_expression fp: is *(sp + 8)",
	  P("\x44\x16\x06\x03\x77\x08\x06"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=[sp+8]" },
	{ "DW_CFA_val_expression fp: is CFA - 16",
	  P("\x44\x16\x06\x02\x40\x1c"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 FP=CFA-16" },
	{ "DW_CFA_undefined ra", P("\x44\x07\x10"),
	  "0-40: 0 CFA=sp+8, 4 RA undefined" },
	{ "ra undefined, then saved again", P("\x07\x10\x44\x90\x01"),
	  "0-40: 0 RA undefined, 4 CFA=sp+8" },
	{ "ra undefined, then restored", P("\x07\x10\x44\xd0"),
	  "0-40: 0 RA undefined, 4 CFA=sp+8" },
	{ "ra undefined needs no CFA",
	  P("\x0f\x05\x77\x10\x06\x23\x08\x07\x10"),
	  "0-40: 0 RA undefined" },
	{ "DW_CFA_register ra, then restored", P("\x09\x10\x02\x44\xd0"),
	  "0-40: 0 CFA=sp+8 RA=rcx, 4 CFA=sp+8" },
	{ "ra elsewhere", P("\x44\x90\x03"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+8 RA=[CFA-24]" },
	{ "ra same value", P("\x44\x08\x10"),
	  "0-4: 0 CFA=sp+8 !60 return address rule beyond the format" },
	{ "ra is CFA - 8 itself", P("\x44\x14\x10\x01"),
	  "0-4: 0 CFA=sp+8 !60 return address rule beyond the format" },
	{ "sp is the CFA", P("\x44\x14\x07\x00"), "0-40: 0 CFA=sp+8" },
	{ "sp is the CFA, by expression", P("\x44\x16\x07\x01\x96"),
	  "0-40: 0 CFA=sp+8" },
	{ "sp is not the CFA", P("\x44\x14\x07\x01"),
	  "0-4: 0 CFA=sp+8 !60 caller's stack pointer is not the CFA" },
	{ "sp saved", P("\x44\x87\x03"),
	  "0-4: 0 CFA=sp+8 !60 caller's stack pointer is not the CFA" },
	{ "DW_CFA_remember_state, DW_CFA_restore_state",
	  P("\x44\x0e\x10\x86\x02\x44\x0a\x0e\x08\xc6\x44\x0b"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+16 FP=[CFA-16], 8 CFA=sp+8, "
	  "c CFA=sp+16 FP=[CFA-16]" },
	{ "nested remember",
	  P("\x0a\x44\x0e\x10\x0a\x44\x0e\x18\x0a\x44\x0e\x20\x44\x0b\x44\x0b"
	    "\x44\x0b"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+16, 8 CFA=sp+24, c CFA=sp+32, "
	  "10 CFA=sp+24, 14 CFA=sp+16, 18 CFA=sp+8" },
	{ "restore_state without remember", P("\x44\x0b"),
	  "0-4: 0 CFA=sp+8 !60 restore without remember, or too many" },
	{ "DW_CFA_GNU_args_size", P("\x44\x2e\x20\x0e\x10"),
	  "0-40: 0 CFA=sp+8, 4 CFA=sp+16" },
	{ "unknown instruction", P("\x44\x3a\x0e\x10"),
	  "0-4: 0 CFA=sp+8 !60 unknown CFI instruction" },
	{ "negate_ra_state elsewhere", P("\x44\x2d\x0e\x10"),
	  "0-4: 0 CFA=sp+8 !60 unknown CFI instruction" },
	{ "DRAP", P("\x44\x0c\x0a\x00\x45\x10\x06\x02\x76\x00\x0f\x03\x76\x78"
	    "\x06\x46\x0c\x07\x08\xc6"),
	  "0-40: 0 CFA=sp+8, 4 CFA=r10, 9 CFA=[fp-8] FP=[fp], f CFA=sp+8" },
	{ "expression operations",
	  /* sp + ((((16 - 2) << 4) >> 2) | 1) + 2, with some detours */
	  P("\x0f\x14\x77\x00\x40\x08\x02\x1c\x12\x13\x16\x16\x34\x24\x32\x26"
	    "\x31\x21\x23\x02\x22\x96"),
	  "0-40: 0 CFA=sp+59" },
	{ "expression comparisons",
	  /* sp + 8 * ((3 > 2 | 2 < 3 | 2 <= 2 | 3 != 2) ^ 3 == 2) */
	  P("\x0f\x18\x77\x00\x33\x32\x2b\x32\x33\x2d\x21\x32\x32\x2c\x21\x33"
	    "\x32\x2e\x21\x33\x32\x29\x27\x38\x1e\x22"),
	  "0-40: 0 CFA=sp+8" },
	{ "expression branches: bra taken over skip",
	  P("\x0f\x0f\x77\x08\x31\x28\x05\x00\x23\x64\x2f\x02\x00\x23\x08\x96"
	    "\x96"),
	  "0-40: 0 CFA=sp+16" },
	{ "expression branches backwards",
	  P("\x0f\x05\x77\x08\x2f\xfd\xff"),
	  " !64 CFA expression beyond the format" },
	{ "expression that is too deep",
	  P("\x0f\x14\x30\x30\x30\x30\x30\x30\x30\x30\x30\x30\x30\x30\x30\x30"
	    "\x30\x30\x30\x30\x77\x08"),
	  " !64 CFA expression beyond the format" },
};

static const struct test aarch64[] = {
	{ "ra in lr", P(""), "0-40: 0 CFA=sp" },
	{ "ra and fp saved", P("\x42\x0e\x10\x9d\x02\x9e\x01"),
	  "0-40: 0 CFA=sp, 8 CFA=sp+16 RA=[CFA-8] FP=[CFA-16]" },
	{ "negate_ra_state", P("\x41\x2d\x41\x0e\x10\x9e\x01\x41\x2d"),
	  "0-40: 0 CFA=sp, 4 CFA=sp mangled, "
	  "8 CFA=sp+16 RA=[CFA-8] mangled, c CFA=sp+16 RA=[CFA-8]" },
	{ "RA_SIGN_STATE set by an expression, then toggled",
	  P("\x41\x16\x22\x01\x31\x41\x2d\x41\x16\x22\x02\x08\x01"
	    "\x41\x16\x22\x01\x30\x41\x2d"),
	  "0-40: 0 CFA=sp, 4 CFA=sp mangled, 8 CFA=sp, c CFA=sp mangled, "
	  "10 CFA=sp, 14 CFA=sp mangled" },
	{ "RA_SIGN_STATE restored", P("\x41\x2d\x41\x06\x22\x41\x2d"),
	  "0-40: 0 CFA=sp, 4 CFA=sp mangled, 8 CFA=sp, c CFA=sp mangled" },
	{ "RA_SIGN_STATE remembered", P("\x0a\x41\x16\x22\x01\x31\x41\x0b"),
	  "0-40: 0 CFA=sp, 4 CFA=sp mangled, 8 CFA=sp" },
	{ "RA_SIGN_STATE beyond bit 0", P("\x41\x16\x22\x01\x33"),
	  "0-4: 0 CFA=sp !60 return address rule beyond the format" },
	{ "RA_SIGN_STATE by the CFA", P("\x41\x14\x22\x00"),
	  "0-4: 0 CFA=sp !60 return address rule beyond the format" },
	{ "RA_SIGN_STATE by a load", P("\x41\x10\x22\x01\x30\x41\x2d"),
	  "0-4: 0 CFA=sp !60 return address rule beyond the format" },
	{ "RA_SIGN_STATE by a slot", P("\x41\x05\x22\x01"),
	  "0-4: 0 CFA=sp !60 return address rule beyond the format" },
	{ "RA_SIGN_STATE by a register", P("\x41\x09\x22\x01"),
	  "0-4: 0 CFA=sp !60 return address rule beyond the format" },
	{ "RA_SIGN_STATE undefined", P("\x41\x07\x22\x44\x06\x22"),
	  "0-4: 0 CFA=sp | 14-40: 0 CFA=sp "
	  "!16 return address rule beyond the format" },
	{ "negate_ra_state_with_pc", P("\x41\x2c"),
	  "0-4: 0 CFA=sp !60 unknown CFI instruction" },
};

static const struct test s390x[] = {
	{ "ra in r14", P(""), "0-40: 0 CFA=sp+160" },
	{ "saved registers", P("\x46\x8e\x06\x8b\x09\x8f\x05\x0e\xc0\x02"),
	  "0-40: 0 CFA=sp+160, 6 CFA=sp+320 RA=[CFA-48] FP=[CFA-72]" },
	{ "ra in a floating-point register", P("\x46\x09\x0e\x10"),
	  "0-40: 0 CFA=sp+160, 6 CFA=sp+160 RA=r16" },
	{ "sp in a floating-point register", P("\x46\x09\x0f\x11"),
	  "0-40: 0 CFA=sp+160" },
	{ "sp is the CFA", P("\x46\x14\x0f\x00"),
	  "0-6: 0 CFA=sp+160 !58 caller's stack pointer is not the CFA" },
	{ "CFA offset that the format rounds", P("\x46\x0e\xa4\x01"),
	  "0-6: 0 CFA=sp+160 !58 offset beyond the format" },
};

/* DW_CFA_def_cfa_expression, where the format has addends. */
static const struct test amd64_addend[] = {
	{ "*(sp + 16) + 8", P("\x44\x0f\x05\x77\x10\x06\x23\x08"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+8" },
	{ "*(sp - 8) + 8, below the stack pointer",
	  P("\x44\x0f\x05\x77\x78\x06\x23\x08"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp-8]+8" },
	{ "*(fp + 88) + 8", P("\x44\x0f\x06\x76\xd8\x00\x06\x23\x08"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[fp+88]+8" },
	{ "*(r10) + 8", P("\x44\x0f\x05\x7a\x00\x06\x23\x08"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[r10]+8" },
	{ "*(sp + 16) + 8 by a literal",
	  P("\x44\x0f\x05\x77\x10\x06\x38\x22"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+8" },
	{ "8 + *(sp + 16)", P("\x44\x0f\x05\x38\x77\x10\x06\x22"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+8" },
	{ "*(16 + sp) + 8", P("\x44\x0f\x07\x40\x77\x00\x22\x06\x38\x22"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+8" },
	{ "*(sp + 16) + 1000", P("\x44\x0f\x06\x77\x10\x06\x23\xe8\x07"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+1000" },
	{ "*(sp + 16) - 8", P("\x44\x0f\x06\x77\x10\x06\x09\xf8\x22"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]-8" },
	{ "*(sp + 16) minus 8", P("\x44\x0f\x05\x77\x10\x06\x38\x1c"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]-8" },
	{ "*(sp + 16) + 8 + 48",
	  P("\x44\x0f\x07\x77\x10\x06\x23\x08\x23\x30"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+56" },
	{ "*(sp + 16) + 8 copied",
	  P("\x44\x0f\x07\x77\x10\x06\x38\x22\x12\x13"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+8" },
	{ "*(sp + 16) alone", P("\x44\x0f\x03\x77\x10\x06"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]" },
	{ "frame pointer beside it",
	  P("\x44\x0f\x05\x77\x10\x06\x23\x08\x86\x03"),
	  "0-40: 0 CFA=sp+8, 4 CFA=[sp+16]+8 FP=[CFA-24]" },
	{ "addend beyond 32 bits",
	  P("\x44\x0f\x09\x77\x10\x06\x23\x80\x80\x80\x80\x08"),
	  "0-4: 0 CFA=sp+8 !60 CFA expression beyond the format" },
	{ "two loads", P("\x44\x0f\x06\x77\x10\x06\x23\x08\x06"),
	  "0-4: 0 CFA=sp+8 !60 CFA expression beyond the format" },
	{ "*(sp + 8 + r9 * 8) + 8",
	  P("\x44\x0f\x0a\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08"),
	  "0-4: 0 CFA=sp+8 !60 CFA expression beyond the format" },
	{ "frame pointer: is *(sp + 8) + 8",
	  P("\x44\x16\x06\x05\x77\x08\x06\x23\x08"),
	  "0-4: 0 CFA=sp+8 !60 frame pointer rule beyond the format" },
	{ "frame pointer: is *(CFA - 16) + 8",
	  P("\x44\x16\x06\x05\x40\x1c\x06\x23\x08"),
	  "0-4: 0 CFA=sp+8 !60 frame pointer rule beyond the format" },
	{ "return address: is *(sp + 8) + 8",
	  P("\x44\x16\x10\x05\x77\x08\x06\x23\x08"),
	  "0-4: 0 CFA=sp+8 !60 return address rule beyond the format" },
};

/* The return address is on the stack, but where is not said. */
static const struct cie amd64_no_ra_cie = AMD64_CIE("zR", "\x0c\x07\x08");

static const struct test amd64_no_ra[] = {
	{ "AMD64: no rule for the return address", P(""),
	  " !64 no return address rule" },
	{ "AMD64: a rule for the return address later", P("\x44\x90\x01"),
	  "4-40: 0 CFA=sp+8 !4 no return address rule" },
	{ "AMD64: return address rule restored to none",
	  P("\x90\x01\x44\xd0"),
	  "0-4: 0 CFA=sp+8 !60 no return address rule" },
	{ "AMD64: undefined is a rule", P("\x07\x10"), "0-40: 0 RA undefined" },
};

static const struct test aarch64_no_ra[] = {
	{ "AArch64: no rule: the return address is in x30", P("\x41\x0e\x10"),
	  "0-40: 0 CFA=sp, 4 CFA=sp+16" },
	{ "AArch64: return address rule restored to none",
	  P("\x41\x9e\x01\x41\xde"),
	  "0-40: 0 CFA=sp, 4 CFA=sp RA=[CFA-8], 8 CFA=sp" },
};

static const struct test s390x_no_ra[] = {
	{ "s390x: no rule: the return address is in r14",
	  P("\x46\x0e\xc0\x02"),
	  "0-40: 0 CFA=sp+160, 6 CFA=sp+320" },
	{ "s390x: return address rule restored to none",
	  P("\x46\x8e\x06\x46\xce"),
	  "0-40: 0 CFA=sp+160, 6 CFA=sp+160 RA=[CFA-48], c CFA=sp+160" },
};

/* SFG_INPUT_* */
static unsigned int flags;

static char *derive(unsigned int abi, const struct bytes *b)
{
	struct sfg_input in = {
		.abi = abi, .cfi = { .data = b->p, .len = b->len },
		.flags = flags, .text_base = 0x30, .data_base = 0x50,
	};
	struct sfg_summary sum;
	struct sfg_fdes fdes;
	struct sfg_error err;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (sfg_derive(&in, &fdes, &sum, &err)) {
		fprintf(out, "0x%zx: %s", err.offset, err.reason);
	} else {
		print_fdes(out, abi, &fdes, CODE);
		print_reasons(out, &sum);
		sfg_free_fdes(&fdes);
	}
	fclose(out);
	return text;
}

static void check(unsigned int abi, const struct bytes *b, const char *name,
		  const char *want)
{
	char *got = derive(abi, b);

	result(!strcmp(got, want), name, "got '%s', want '%s'", got, want);
	free(got);
}

static void run(unsigned int abi, const struct cie *cie,
		const struct test *tests, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct bytes b = { .big_endian = abi == SFRAME_ABI_S390X_BE };

		put_fde(&b, put_cie(&b, cie), true, CODE, SIZE,
			tests[i].program, tests[i].len);
		check(abi, &b, tests[i].name, tests[i].want);
	}
}

static void run_cie(const char *name, struct cie cie, const char *want)
{
	struct bytes b = { 0 };

	put_fde(&b, put_cie(&b, &cie), *cie.augmentation == 'z', CODE, SIZE,
		NULL, 0);
	check(SFRAME_ABI_AMD64_LE, &b, name, want);
}

static void test_cies(void)
{
	struct cie cie = amd64_cie;

	cie.augmentation = "zPLR";
	run_cie("augmentation zPLR", cie, "0-40: 0 CFA=sp+8");
	cie.personality = 0x0d;
	run_cie("personality of unknown length before the encoding", cie,
		" !0 pointer encoding not usable");
	cie.augmentation = "zRPL";
	run_cie("personality of unknown length after it", cie,
		"0-40: 0 CFA=sp+8");
	cie.augmentation = "zRPS";
	run_cie("a letter after such a personality", cie,
		"0-40 signal: 0 CFA=sp+8");
	cie.augmentation = "zRPq";
	run_cie("an unknown letter after such a personality", cie,
		" !0 unknown CIE augmentation or version");
	cie.personality = 0;
	cie.augmentation = "zRS";
	run_cie("augmentation S", cie, "0-40 signal: 0 CFA=sp+8");
	cie.augmentation = "";
	run_cie("no augmentation", cie, "0-40: 0 CFA=sp+8");
	cie.augmentation = "zRq";
	run_cie("unknown augmentation", cie,
		" !0 unknown CIE augmentation or version");
	cie.augmentation = "zR";
	cie.version = 3;
	run_cie("CIE version 3", cie, "0-40: 0 CFA=sp+8");
	cie.version = 4;
	run_cie("CIE version 4", cie, "0-40: 0 CFA=sp+8");
	cie.version = 2;
	run_cie("CIE version 2", cie,
		" !0 unknown CIE augmentation or version");
	cie.version = 1;
	cie.ra = 3;
	run_cie("other return address column", cie,
		" !64 unusual return address column");
	cie.ra = 16;
	cie.encoding = 0x30;
	run_cie("pointers relative to data", cie,
		" !0 pointer encoding not usable");
	cie.encoding = 0x0d;
	run_cie("pointers of unknown length", cie,
		" !0 pointer encoding not usable");
	cie.encoding = 0xff;
	run_cie("no pointers", cie, " !0 pointer encoding not usable");
	cie.encoding = 0;
	cie.program_len = 0;
	run_cie("no CFA rule", cie, " !64 no CFA rule");
}

/* The FDE's address is CODE less the base. */
static void run_base(const char *name, uint8_t encoding, uint64_t base,
		     const char *want)
{
	struct cie cie = amd64_cie;
	struct bytes b = { 0 };

	cie.encoding = encoding;
	put_fde(&b, put_cie(&b, &cie), true, CODE - base, SIZE, NULL, 0);
	check(SFRAME_ABI_AMD64_LE, &b, name, want);
}

static void test_bases(void)
{
	run_base("no base of text", 0x20, 0x30,
		 " !0 pointer encoding not usable");
	flags = SFG_INPUT_BASES;
	run_base("pointers relative to a base of text", 0x20, 0x30,
		 "0-40: 0 CFA=sp+8");
	run_base("pointers relative to a base of data", 0x30, 0x50,
		 "0-40: 0 CFA=sp+8");
	run_base("pointers relative to a function", 0x40, 0,
		 " !0 pointer encoding not usable");
	run_base("an indirect pointer, relative to text", 0xa0, 0x30,
		 " !0 pointer encoding not usable");
	flags = 0;
}

/* Functions without a CFA, and those that others overlap, too. */
static void test_list(void)
{
	struct sfg_input in = { .abi = SFRAME_ABI_AMD64_LE };
	struct cie none = amd64_cie;
	struct sfg_image *list;
	struct bytes b = { 0 };
	size_t cie, nr = 0;

	none.program_len = 0;
	cie = put_cie(&b, &none);
	put_fde(&b, cie, true, CODE + 0x80, SIZE, NULL, 0);
	put_fde(&b, cie, true, CODE, SIZE, NULL, 0);
	put_fde(&b, cie, true, CODE + 0x10, SIZE, NULL, 0);
	put_fde(&b, cie, true, CODE + 0x200, 0, NULL, 0);
	in.cfi = (struct sfg_image) { .data = b.p, .len = b.len };
	IS("a list of functions", sfg_list_functions(&in, &list, &nr, NULL), 0);
	result(nr == 3 && list[0].addr == CODE && list[0].len == SIZE &&
	       list[1].addr == CODE + 0x10 && list[2].addr == CODE + 0x80 &&
	       !list[2].data, "in order, without empty ones", "%zu", nr);
	free(list);
	b.len--;
	in.cfi.len--;
	IS("a list of truncated functions",
	   sfg_list_functions(&in, &list, &nr, NULL), -EINVAL);
}

static void test_padding(void)
{
	IS("zeros are padding",
	   sfg_padding(SFRAME_ABI_AMD64_LE, P("\0\0\x55")), 2);
	IS("nops are padding", sfg_padding(SFRAME_ABI_AMD64_LE,
	   P("\x66\x2e\x0f\x1f\x84\0\0\0\0\0\xcc\x90\x55")), 12);
	IS("code is no padding", sfg_padding(SFRAME_ABI_AMD64_LE, P("\x55")),
	   0);
	IS("nops of RISC-V, of both lengths", sfg_padding(RISCV,
	   P("\x13\0\0\0\x01\0\x13\0\0\0\x05")), 10);
	/* The first has three zeros in front. */
	IS("nops of Power", sfg_padding(POWER,
	   P("\0\0\0\x60\0\0\0\x60\0\0\0")), 8);
	IS("zeros on Power", sfg_padding(POWER, P("\0\0\0\0\0")), 5);
	IS("no padding of an unknown ABI", sfg_padding(99, P("\0")), 0);
}

static void test_key_b(void)
{
	struct cie cie = aarch64_cie;
	struct bytes b = { 0 };

	cie.augmentation = "zRB";
	put_fde(&b, put_cie(&b, &cie), true, CODE, SIZE, NULL, 0);
	check(SFRAME_ABI_AARCH64_LE, &b, "augmentation B",
	      "0-40 key B: 0 CFA=sp");
}

static void test_records(void)
{
	struct bytes b = { 0 };
	size_t first, second;
	struct cie cie = amd64_cie;

	first = put_cie(&b, &cie);
	put_fde(&b, first, true, CODE + 0x80, 0x40, P("\x44\x0e\x10"));
	cie.program = "\x0c\x06\x10\x86\x02\x90\x01";
	cie.program_len = 7;
	second = put_cie(&b, &cie);
	put_fde(&b, second, true, CODE, 0x20, NULL, 0);
	put_fde(&b, first, true, CODE + 0x20, 0x20, NULL, 0);
	put_fde(&b, first, true, CODE + 0x30, 0x20, NULL, 0);
	put_fde(&b, first, true, CODE + 0x60, 0, NULL, 0);
	put_int(&b, 0, 4);
	put_int(&b, 0xffffff, 4);
	check(SFRAME_ABI_AMD64_LE, &b, "several CIEs, order, overlap, "
	      "terminator",
	      "0-20: 0 CFA=fp+16 FP=[CFA-16] | 20-30: 0 CFA=sp+8 | "
	      "30-50: 0 CFA=sp+8 | 80-c0: 0 CFA=sp+8, 4 CFA=sp+16 "
	      "!16 overlaps another function !0 zero size");
}

/* Rows at 0, 8, 10 and so on; the outer function's continues after. */
#define OUTER_ROWS	P("\x48\x0e\x10\x48\x0e\x18\x48\x0e\x20\x48\x0e\x28")

static void test_overlap(void)
{
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie), len;

	put_fde(&b, cie, true, CODE, SIZE, OUTER_ROWS);
	len = b.len;
	put_fde(&b, cie, true, CODE + 0x14, 8, P("\x0e\x80\x01"));
	check(SFRAME_ABI_AMD64_LE, &b, "a function inside of another",
	      "0-14: 0 CFA=sp+8, 8 CFA=sp+16, 10 CFA=sp+24 | "
	      "14-1c: 0 CFA=sp+128 | 1c-40: 0 CFA=sp+32, 4 CFA=sp+40 "
	      "!8 overlaps another function");
	put_fde(&b, cie, true, CODE + 0x15, 2, P("\x0e\x88\x01"));
	check(SFRAME_ABI_AMD64_LE, &b, "one inside of that",
	      "0-14: 0 CFA=sp+8, 8 CFA=sp+16, 10 CFA=sp+24 | "
	      "14-15: 0 CFA=sp+128 | 15-17: 0 CFA=sp+136 | "
	      "17-1c: 0 CFA=sp+128 | 1c-40: 0 CFA=sp+32, 4 CFA=sp+40 "
	      "!10 overlaps another function");
	b.len = len;
	put_fde(&b, cie, true, CODE + 0x30, 0x20, P("\x0e\x80\x01"));
	check(SFRAME_ABI_AMD64_LE, &b, "the end of one, the start of another",
	      "0-30: 0 CFA=sp+8, 8 CFA=sp+16, 10 CFA=sp+24, 18 CFA=sp+32, "
	      "20 CFA=sp+40 | 30-50: 0 CFA=sp+128 "
	      "!16 overlaps another function");
	b.len = len;
	put_fde(&b, cie, true, CODE, SIZE + 8, P("\x0e\x80\x01"));
	put_fde(&b, cie, true, CODE, 4, NULL, 0);
	check(SFRAME_ABI_AMD64_LE, &b, "one address: the first one",
	      "0-40: 0 CFA=sp+8, 8 CFA=sp+16, 10 CFA=sp+24, 18 CFA=sp+32, "
	      "20 CFA=sp+40 | 40-48: 0 CFA=sp+128 "
	      "!68 overlaps another function");
}

static void test_overlap_signal(void)
{
	struct cie signal = amd64_cie;
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie), at;

	signal.augmentation = "zRS";
	at = put_cie(&b, &signal);
	put_fde(&b, at, true, CODE, SIZE, NULL, 0);
	put_fde(&b, cie, true, CODE + 0x10, 8, NULL, 0);
	check(SFRAME_ABI_AMD64_LE, &b, "a function inside of a signal frame",
	      "0-10 signal: 0 CFA=sp+8 | 10-18: 0 CFA=sp+8 | "
		"18-40 signal: 0 CFA=sp+8 "
	      "!8 overlaps another function");
}

/* A terminator between two functions; the index lists so much. */
static void check_listed(const char *name, const struct bytes *b,
			 size_t listed, uint64_t functions, uint64_t bytes)
{
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .cfi_listed = listed,
		.cfi = { b->p, b->len, 0 },
	};
	struct sfg_summary sum;
	struct sfg_fdes fdes;

	if (sfg_derive(&in, &fdes, &sum, NULL)) {
		result(false, name, "failed");
		return;
	}
	sfg_free_fdes(&fdes);
	result(sum.functions == functions && sum.cfi_bytes == bytes, name,
	       "%llu functions, %llu bytes", (unsigned long long)sum.functions,
	       (unsigned long long)sum.cfi_bytes);
}

static void test_listed(void)
{
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie), zero, second, end;

	put_fde(&b, cie, true, CODE, 0x10, NULL, 0);
	zero = b.len;
	put_int(&b, 0, 4);
	put_int(&b, 0, 4);
	second = b.len;
	put_fde(&b, cie, true, CODE + 0x10, 0x10, NULL, 0);
	end = b.len;
	put_int(&b, 0, 4);
	put_int(&b, 0xffffff, 4);
	check_listed("terminator without an index", &b, 0, 1, zero + 4);
	check_listed("terminator, index of what is before", &b, zero, 1,
		     zero + 4);
	check_listed("terminator, index of what follows", &b, second + 1, 2,
		     end + 4);
}

static void test_wide_length(void)
{
	struct bytes b = { 0 }, wide = { 0 };

	put_cie(&b, &amd64_cie);
	/* the same CIE after a 64-bit length */
	put_int(&wide, 0xffffffff, 4);
	put_int(&wide, b.len - 4, 8);
	put(&wide, b.p + 4, b.len - 4);
	put_fde(&wide, 0, true, CODE, SIZE, P("\x44\x0e\x10"));
	check(SFRAME_ABI_AMD64_LE, &wide, "64-bit length",
	      "0-40: 0 CFA=sp+8, 4 CFA=sp+16");
}

static void test_errors(void)
{
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie), fde = b.len, len;

	put_fde(&b, cie, true, CODE, SIZE, P("\x44\x0e\x10"));
	len = b.len;
	b.len = len - 1;
	check(SFRAME_ABI_AMD64_LE, &b, "truncated record",
	      "0x16: CFI record is truncated");
	b.len = len;
	b.p[fde + 4]--;
	check(SFRAME_ABI_AMD64_LE, &b, "FDE that names no CIE",
	      "0x16: FDE names no CIE");
	b.p[fde + 4]++;
	b.p[len - 1] = 0x80;
	check(SFRAME_ABI_AMD64_LE, &b, "truncated operand",
	      "0x30: CFI instruction is truncated");
	b.len = 0;
	put_cie(&b, &amd64_cie);
	b.p[0] = 8;
	check(SFRAME_ABI_AMD64_LE, &b, "truncated CIE",
	      "0x0: CIE is truncated");
	check(9, &b, "unknown ABI", "0x0: no ABI of this number");
}

/* 65 states are one more than is kept. */
static void test_remember_limit(void)
{
	struct bytes b = { 0 };
	char program[65];

	memset(program, 0x0a, sizeof(program));
	put_fde(&b, put_cie(&b, &amd64_cie), true, CODE, SIZE, program, 64);
	check(SFRAME_ABI_AMD64_LE, &b, "64 remembered states",
	      "0-40: 0 CFA=sp+8");
	b.len = 0;
	put_fde(&b, put_cie(&b, &amd64_cie), true, CODE, SIZE, program, 65);
	check(SFRAME_ABI_AMD64_LE, &b, "65 remembered states",
	      " !64 restore without remember, or too many");
}

static void test_text(void)
{
	static const struct sfg_image text = { NULL, 0x20, CODE };
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie);
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .text = &text, .nr_text = 1,
	};
	struct sfg_summary sum;
	struct sfg_fdes fdes;

	put_fde(&b, cie, true, 0, 0x10, NULL, 0);
	put_fde(&b, cie, true, CODE, 0x20, NULL, 0);
	put_fde(&b, cie, true, CODE + 0x10, 0x20, NULL, 0);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	if (sfg_derive(&in, &fdes, &sum, NULL)) {
		result(false, "code outside of the text", "failed");
		return;
	}
	result(fdes.nr == 1 && sum.affected[SFG_R_OUTSIDE] == 2 &&
	       sum.code_bytes == 0x20, "code outside of the text",
	       "%zu FDEs", fdes.nr);
	sfg_free_fdes(&fdes);
}

/* Nops, code, 10-20 with CFI, nops, 30-38 with CFI, zeros, code. */
static void fill_text(uint8_t *text, size_t len)
{
	memset(text, 0xc3, len);
	memset(text, 0x90, 4);
	memset(text + 0x20, 0x90, 0x10);
	memset(text + 0x38, 0, 8);
}

static void check_bare(const char *name, const struct sfg_input *in,
		       uint64_t want)
{
	struct sfg_summary sum;
	struct sfg_fdes fdes;
	struct sfg_error err;

	if (sfg_derive(in, &fdes, &sum, &err)) {
		result(false, name, "%s", err.reason);
		return;
	}
	result(sum.bare_bytes == want && sum.code_bytes == 0x18, name,
	       "%llu bytes", (unsigned long long)sum.bare_bytes);
	sfg_free_fdes(&fdes);
}

static void test_bare(void)
{
	static const struct sfg_image wrong[] = {
		{ NULL, 8, CODE + 8 }, { NULL, 8, CODE },
	};
	uint8_t bytes[0x60];
	struct sfg_image text = { bytes, sizeof(bytes), CODE };
	struct sfg_image code[] = {
		{ bytes, 2, CODE }, { bytes + 8, 0x10, CODE + 8 },
		{ bytes + 0x38, 0x10, CODE + 0x38 },
	};
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie);
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .text = &text, .nr_text = 1,
	};
	struct sfg_fdes fdes;
	struct sfg_error err;

	fill_text(bytes, sizeof(bytes));
	put_fde(&b, cie, true, CODE + 0x10, 0x10, NULL, 0);
	put_fde(&b, cie, true, CODE + 0x30, 8, NULL, 0);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	check_bare("code without CFI, less padding", &in, 12 + 32);
	text.data = NULL;
	check_bare("code without CFI that cannot be read", &in, 16 + 16 + 40);
	in.code = code;
	in.nr_code = ARRAY_SIZE(code);
	check_bare("code without CFI in what is instructions", &in, 8 + 8);
	in.code = wrong;
	in.nr_code = ARRAY_SIZE(wrong);
	result(sfg_derive(&in, &fdes, NULL, &err) == -EINVAL,
	       "ranges of instructions that are not sorted", "accepted");
}

static const void *read_bytes(void *arg, uint64_t addr, size_t len)
{
	IS("bytes that are read", len <= SFG_READ_MAX, true);
	return (const uint8_t *)arg + (addr - CODE);
}

/* Padding over several blocks: nops of 3 bytes, and zeros that are code then. */
static void test_bare_blocks(void)
{
	static uint8_t bytes[20000];
	struct sfg_image text = { NULL, sizeof(bytes), CODE };
	struct bytes b = { 0 };
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .text = &text, .nr_text = 1,
		.read_text = read_bytes, .read_arg = bytes,
	};
	size_t i;

	for (i = 0x18; i < 0x18 + 9000; i += 3)
		memcpy(bytes + i, "\x0f\x1f\x00", 3);
	put_fde(&b, put_cie(&b, &amd64_cie), true, CODE, 0x18, NULL, 0);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	check_bare("nops by blocks, then zeros", &in,
		   sizeof(bytes) - 0x18 - 9000);
	memset(bytes + 0x18, 0, 9000);
	bytes[19999] = 0xc3;
	check_bare("zeros by blocks, then code", &in, 1);
	text.data = bytes;
	check_bare("zeros at once, then code", &in, 1);
}

/* "START-END ROWS" of each function, in hexadecimal from CODE on. */
static void check_called(const char *name, const struct sfg_input *in,
			 uint64_t bytes, const char *want)
{
	struct sfg_summary sum;
	struct sfg_fdes fdes;
	struct sfg_error err;
	char got[512] = "";
	size_t i, at = 0;

	if (sfg_derive(in, &fdes, &sum, &err)) {
		result(false, name, "%s", err.reason);
		return;
	}
	for (i = 0; i < fdes.nr; i++)
		at += snprintf(got + at, sizeof(got) - at, "%s%x-%x %u%s",
			       i ? ", " : "",
			       (unsigned int)(fdes.fdes[i].addr - CODE),
			       (unsigned int)(fdes.fdes[i].addr - CODE) +
			       fdes.fdes[i].size, fdes.fdes[i].nr_rows,
			       fdes.fdes[i].rows[0].cfa.offset == 8 ? "" : "?");
	result(!strcmp(got, want) && sum.called_bytes == bytes, name,
	       "%s; %llu bytes", got, (unsigned long long)sum.called_bytes);
	sfg_free_fdes(&fdes);
}

static void test_called(void)
{
	static const char two_rows[] = "\x41\x0e\x10";
	static const char refused[] = "\x0c\x11\x08";
	struct sfg_image text[] = {
		{ NULL, 0x40, CODE }, { NULL, 0x20, CODE + 0x80 },
	};
	struct bytes b = { 0 };
	size_t cie = put_cie(&b, &amd64_cie);
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .text = text, .nr_text = 2,
		.flags = SFG_INPUT_CALLED,
	};
	struct cie unknown = amd64_cie;
	struct sfg_fdes fdes;

	put_fde(&b, cie, true, CODE + 0x10, 0x10, two_rows, 3);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	check_called("gaps that were just called", &in, 0x50,
		     "0-10 1, 10-20 2, 20-40 1, 80-a0 1");
	in.flags = 0;
	check_called("not without the flag", &in, 0, "10-20 2");
	in.flags = SFG_INPUT_CALLED;
	/* Overlaps the first one, and owns the code after it. */
	put_fde(&b, cie, true, CODE + 0x18, 0x10, NULL, 0);
	/* It cannot be expressed. */
	put_fde(&b, cie, true, CODE + 0x2c, 4, refused, 3);
	/* It leaves the text. */
	put_fde(&b, cie, true, CODE + 0x3c, 0x48, NULL, 0);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	check_called("no gap where there is an FDE without rows", &in,
		     0x10 + 4 + 0xc + 0x1c,
		     "0-10 1, 10-18 2, 18-28 1, 28-2c 1, 30-3c 1, 84-a0 1");
	unknown.augmentation = "zQ";
	cie = put_cie(&b, &unknown);
	put_fde(&b, cie, true, CODE, 4, NULL, 0);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	check_called("no gap where an FDE is unknown", &in, 0,
		     "10-18 2, 18-28 1");
	in.debug_frame = in.cfi;
	result(sfg_derive(&in, &fdes, NULL, NULL) == -EINVAL,
	       "gaps of two sections", "accepted");
}

static void test_addends(void)
{
	flags = SFG_INPUT_ADDENDS;
	run(SFRAME_ABI_AMD64_LE, &amd64_cie, amd64_addend,
	    ARRAY_SIZE(amd64_addend));
	flags = 0;
}

static void test_flags(void)
{
	struct bytes b = { 0 };
	struct sfg_input in = { .abi = SFRAME_ABI_AMD64_LE };
	struct sfg_image *list;
	struct sfg_output out;
	struct sfg_fdes fdes;
	struct sfg_cfi *cfi;
	struct sfg_error err = { 0 };
	size_t nr;

	put_fde(&b, put_cie(&b, &amd64_cie), true, CODE, SIZE, NULL, 0);
	in.cfi = (struct sfg_image) { b.p, b.len, 0 };
	in.flags = 1u << 31;
	IS("unknown flags: convert", sfg_convert(&in, &out, NULL, &err),
	   -EINVAL);
	result(err.reason && !strcmp(err.reason, "unknown flags"),
	       "unknown flags: why", "%s", err.reason);
	IS("unknown flags: derive", sfg_derive(&in, &fdes, NULL, NULL),
	   -EINVAL);
	IS("unknown flags: list", sfg_list_functions(&in, &list, &nr, NULL),
	   -EINVAL);
	IS("unknown flags: open", sfg_open_cfi(&in, &cfi, NULL), -EINVAL);
	in.flags = 0x80000000;
	IS("the highest flag", sfg_open_cfi(&in, &cfi, NULL), -EINVAL);
}

int main(void)
{
	test_flags();
	run(SFRAME_ABI_AMD64_LE, &amd64_cie, amd64, ARRAY_SIZE(amd64));
	test_addends();
	run(SFRAME_ABI_AARCH64_LE, &aarch64_cie, aarch64, ARRAY_SIZE(aarch64));
	run(SFRAME_ABI_S390X_BE, &s390x_cie, s390x, ARRAY_SIZE(s390x));
	run(SFRAME_ABI_AMD64_LE, &amd64_no_ra_cie, amd64_no_ra,
	    ARRAY_SIZE(amd64_no_ra));
	run(SFRAME_ABI_AARCH64_LE, &aarch64_cie, aarch64_no_ra,
	    ARRAY_SIZE(aarch64_no_ra));
	run(SFRAME_ABI_S390X_BE, &s390x_cie, s390x_no_ra,
	    ARRAY_SIZE(s390x_no_ra));
	test_cies();
	test_bases();
	test_list();
	test_padding();
	test_key_b();
	test_records();
	test_overlap();
	test_overlap_signal();
	test_listed();
	test_wide_length();
	test_errors();
	test_remember_limit();
	test_text();
	test_bare();
	test_bare_blocks();
	test_called();
	return finish();
}
