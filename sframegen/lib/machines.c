// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * All that depends on machines. To add one, write an entry here and a directory
 * arch/NAME/; see Documentation/new-arch.rst.
 */
#include <elf.h>

#include "core.h"

/*
 * Length of a ModRM operand, including that byte; 0: truncated. Intel's manual
 * (volume 2, 2.1.5): mod 3 names a register; rm 4 means that an SIB byte
 * follows, whose base 5 means 4 bytes of displacement if mod is 0, as rm 5 does
 * (relative to rip).
 */
static size_t modrm_len(const uint8_t *p, size_t len)
{
	unsigned int mod, rm;
	size_t n = 1;

	mod = p[0] >> 6;
	rm = p[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (len < 2)
			return 0;
		n++;
		if (mod == 0 && (p[1] & 7) == 5)
			n += 4;
	} else if (mod == 0 && rm == 5) {
		n += 4;
	}
	if (mod == 1)
		n += 1;
	if (mod == 2)
		n += 4;
	return n <= len ? n : 0;
}

/*
 * Matches nop, multi-byte nops with prefixes, and int3; 0: another instruction.
 * All of 0f 1f is a nop; assemblers lengthen it by prefixes 66 and 2e (cs). lld
 * fills gaps in code with int3 (cc).
 */
static size_t amd64_nop_len(const uint8_t *p, size_t len)
{
	size_t i = 0, n;

	if (p[0] == 0xcc)
		return 1;
	while (i < len && (p[i] == 0x66 || p[i] == 0x2e))
		i++;
	if (i < len && p[i] == 0x90)
		return i + 1;
	if (len - i < 3 || p[i] != 0x0f || p[i + 1] != 0x1f)
		return 0;
	n = modrm_len(p + i + 2, len - i - 2);
	return n ? i + 2 + n : 0;
}

/*
 * DWARF's order differs from that of instructions: there rcx is 1, rdx 2, and 4
 * to 7 are rsp, rbp, rsi and rdi.
 */
static const char *const amd64_regs[16] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

/* <asm/perf_regs.h>: ax is 0, r8 is 16. */
static const uint8_t amd64_perf_regs[32] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23,
};

/* perf numbers f0 to f15 16 to 31; DWARF has them in the psABI's pairs. */
static const uint8_t s390x_perf_regs[32] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 18, 20, 22, 17, 19, 21, 23, 24, 26, 28, 30, 25, 27, 29, 31,
};

/*
 * Register numbers are DWARF's, from each psABI. Rules name only registers
 * below 32, as a 1-byte FLEX control word has 5 bits for them.
 *
 * HOST_ABI is the ABI that this is compiled for. Trial numbers are at the other
 * end of a header's range than SFrame's.
 */
const struct sfg_arch sfg_arches[] = {
	{
#ifdef __x86_64__
#define HOST_ABI	SFRAME_ABI_AMD64_LE
#endif
		/* rip has no number: 16 is the return address. */
		.name = "AMD64", .abi = SFRAME_ABI_AMD64_LE,
		.ei_data = ELFDATA2LSB, .e_machine = EM_X86_64,
		.fixed_ra = -8, .sp = 7, .fp = 6, .third = 3, .ra = 16, .pc = 16,
		.regs = 0xffff, .cfa_scale = 1, .nop_len = amd64_nop_len,
		.kept = 0xf048, .reg_names = amd64_regs,
		.record = RECORD_AT_END,
		.perf_regs = amd64_perf_regs, .perf_pc = 8,
		/* PLT32 is PC32 if no PLT entry is needed. */
		.relocs = (const struct sfg_reloc[]) {
			{ R_X86_64_NONE, RELOC_NONE, 0 },
			{ R_X86_64_64, RELOC_ABS, 8 },
			{ R_X86_64_32, RELOC_ABS, 4 },
			{ R_X86_64_32S, RELOC_ABS, 4 },
			{ R_X86_64_PC32, RELOC_PC, 4 },
			{ R_X86_64_PLT32, RELOC_PC, 4 },
			{ R_X86_64_PC64, RELOC_PC, 8 },
			{ }
		},
	},
	{
#ifdef __AARCH64EL__
#define HOST_ABI	SFRAME_ABI_AARCH64_LE
#endif
		/* AADWARF64: 31 is sp, 32 the pc, and 34 RA_SIGN_STATE. */
		.name = "AArch64", .abi = SFRAME_ABI_AARCH64_LE,
		.ei_data = ELFDATA2LSB, .e_machine = EM_AARCH64,
		.unit_shift = 2,
		.sp = 31, .fp = 29, .ra = 30, .pc = NO_REG, .perf_pc = 32,
		.regs = 0xffffffff, .kept = 0x3ff80000, .cfa_scale = 1,
		.fp_needs_ra = true, .record = RECORD_ANYWHERE,
		.mangled_ra = true, .nops = { { 4, 0x1f2003d5, ~0U } },
#define AARCH64_RELOCS	(const struct sfg_reloc[]) { \
			{ R_AARCH64_NONE, RELOC_NONE, 0 }, \
			{ R_AARCH64_ABS64, RELOC_ABS, 8 }, \
			{ R_AARCH64_ABS32, RELOC_ABS, 4 }, \
			{ R_AARCH64_PREL64, RELOC_PC, 8 }, \
			{ R_AARCH64_PREL32, RELOC_PC, 4 }, \
			{ } \
		}
		.relocs = AARCH64_RELOCS,
	},
	{
#ifdef __AARCH64EB__
#define HOST_ABI	SFRAME_ABI_AARCH64_BE
#endif
		/* Instructions are little-endian here, too. */
		.name = "AArch64 BE", .abi = SFRAME_ABI_AARCH64_BE,
		.ei_data = ELFDATA2MSB, .e_machine = EM_AARCH64,
		.big_endian = true, .unit_shift = 2,
		.sp = 31, .fp = 29, .ra = 30, .pc = NO_REG, .perf_pc = 32,
		.regs = 0xffffffff, .kept = 0x3ff80000, .cfa_scale = 1,
		.fp_needs_ra = true, .record = RECORD_ANYWHERE,
		.mangled_ra = true, .nops = { { 4, 0x1f2003d5, ~0U } },
		.relocs = AARCH64_RELOCS,
	},
	{
#ifdef __s390x__
#define HOST_ABI	SFRAME_ABI_S390X_BE
#endif
		/* 0-15 are the general registers, 16-31 f0 to f15 */
		.name = "s390x", .abi = SFRAME_ABI_S390X_BE,
		.ei_data = ELFDATA2MSB, .e_machine = EM_S390,
		.big_endian = true, .unit_shift = 1,
		.sp = 15, .fp = 11, .ra = 14, .pc = NO_REG,
		.regs = 0xffffffff, .kept = 0xffc0, .sp_bias = -160,
		.sp_kept = true, .cfa_scale = 8,
		.perf_regs = s390x_perf_regs, .perf_pc = 33,
		/*
		 * gas fills with nopr, bc 0 and brcl 0. The upper half of the
		 * second byte is the mask of condition codes to branch on. 0
		 * never branches, so the target does not matter.
		 */
		.nops = {
			{ 2, 0x07000000, 0xfff00000 },
			{ 4, 0x47000000, 0xfff00000 },
			{ 6, 0xc0040000, 0xffff0000 },
		},
		.relocs = (const struct sfg_reloc[]) {
			{ R_390_NONE, RELOC_NONE, 0 },
			{ R_390_64, RELOC_ABS, 8 }, { R_390_32, RELOC_ABS, 4 },
			{ R_390_PC32, RELOC_PC, 4 },
			{ R_390_PC64, RELOC_PC, 8 },
			{ }
		},
	},
	{
#ifdef __riscv
#define HOST_ABI	SFG_ABI_ELF(ELFDATA2LSB, EM_RISCV)
#endif
		.name = "RISC-V", .abi = SFG_ABI_ELF(ELFDATA2LSB, EM_RISCV),
		.ei_data = ELFDATA2LSB, .e_machine = EM_RISCV, .unit_shift = 1,
		.sp = 2, .fp = 8, .ra = 1, .pc = NO_REG, .trial_abi = 0xff,
		.regs = 0xffffffff, .kept = 0xffc0300, .cfa_scale = 1,
		/* addi zero, zero, 0 and c.nop */
		.nops = {
			{ 4, 0x13000000, ~0U }, { 2, 0x01000000, 0xffff0000 },
		},
		/* Linkers may move code, so they compute distances. */
		.relocs = (const struct sfg_reloc[]) {
			{ R_RISCV_NONE, RELOC_NONE, 0 },
			{ R_RISCV_RELAX, RELOC_NONE, 0 },
			{ R_RISCV_64, RELOC_ABS, 8 },
			{ R_RISCV_32, RELOC_ABS, 4 },
			{ R_RISCV_32_PCREL, RELOC_PC, 4 },
			{ R_RISCV_ADD64, RELOC_ADD, 8 },
			{ R_RISCV_SUB64, RELOC_SUB, 8 },
			{ R_RISCV_ADD32, RELOC_ADD, 4 },
			{ R_RISCV_SUB32, RELOC_SUB, 4 },
			{ R_RISCV_ADD16, RELOC_ADD, 2 },
			{ R_RISCV_SUB16, RELOC_SUB, 2 },
			{ R_RISCV_ADD8, RELOC_ADD, 1 },
			{ R_RISCV_SUB8, RELOC_SUB, 1 },
			{ R_RISCV_SET32, RELOC_ABS, 4 },
			{ R_RISCV_SET16, RELOC_ABS, 2 },
			{ R_RISCV_SET8, RELOC_ABS, 1 },
			{ R_RISCV_SET6, RELOC_ABS6, 1 },
			{ R_RISCV_SUB6, RELOC_SUB6, 1 },
			{ }
		},
	},
	{
#if defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define HOST_ABI	SFG_ABI_ELF(ELFDATA2LSB, EM_PPC64)
#endif
		/* The return address is in lr; no rule starts from it. */
		.name = "PowerPC ELFv2",
		.abi = SFG_ABI_ELF(ELFDATA2LSB, EM_PPC64),
		.ei_data = ELFDATA2LSB, .e_machine = EM_PPC64, .unit_shift = 2,
		.sp = 1, .fp = 31, .ra = 65, .pc = NO_REG, .trial_abi = 0xfe,
		.regs = 0xffffffff, .kept = 0xffffc000, .cfa_scale = 1,
		.nops = { { 4, 0x00000060, ~0U } },	/* ori 0, 0, 0 */
		.relocs = (const struct sfg_reloc[]) {
			{ R_PPC64_NONE, RELOC_NONE, 0 },
			{ R_PPC64_ADDR64, RELOC_ABS, 8 },
			{ R_PPC64_ADDR32, RELOC_ABS, 4 },
			{ R_PPC64_REL64, RELOC_PC, 8 },
			{ R_PPC64_REL32, RELOC_PC, 4 },
			{ }
		},
	},
};

const size_t sfg_nr_machines = ARRAY_SIZE(sfg_arches);

/* x32 and similar ABIs have no entry: rows have 64-bit addresses. */
#if !defined(HOST_ABI) || !defined(__LP64__)
#undef HOST_ABI
#define HOST_ABI	0
#endif

const unsigned int sfg_host_abi = HOST_ABI;
