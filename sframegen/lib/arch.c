// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The architectures: all that depends on them. */
#include <elf.h>

#include "core.h"

int sfg_fail(struct sfg_error *err, size_t offset, const char *reason,
	     int code)
{
	if (err) {
		err->offset = offset;
		err->reason = reason;
	}
	return code;
}

/*
 * Bytes of a ModRM operand, with the byte itself; 0: the rest is missing. In
 * the terms of Intel's manual (volume 2, 2.1.5): mod 3 names a register; rm 4
 * says that an SIB byte follows, whose base 5 stands for 4 bytes of
 * displacement where mod is 0, as rm 5 does there (relative to rip).
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
 * nop and the multi-byte nops with their prefixes, and int3; 0: other. All of
 * 0f 1f is a nop whatever its operand; assemblers make it longer with prefixes
 * 66 and 2e (cs). lld fills gaps in code with int3 (cc).
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

static size_t leading_zeros(const uint8_t *p, size_t len)
{
	size_t n = 0;

	while (n < len && !p[n])
		n++;
	return n;
}

static size_t leading_nops(const uint8_t *p, size_t len,
			   size_t (*nop_len)(const uint8_t *p, size_t len))
{
	size_t n = 0, nop;

	for (; n < len; n += nop) {
		nop = nop_len(p + n, len - n);
		if (!nop)
			break;
	}
	return n;
}

/*
 * Gaps hold one or the other: nops, or the zeros of a linker. Zeros behind nops
 * are taken for code: 00 00 is add %al,(%rax) on AMD64. Nops first: Power's
 * begins with zeros.
 */
static size_t leading_padding(const uint8_t *p, size_t len,
			      size_t (*nop_len)(const uint8_t *p, size_t len))
{
	size_t nops = leading_nops(p, len, nop_len);

	return nops ? nops : leading_zeros(p, len);
}

static size_t amd64_padding(const uint8_t *p, size_t len)
{
	return leading_padding(p, len, amd64_nop_len);
}

/*
 * 0xd503201f. Instructions are little-endian on AArch64 also where data are
 * big-endian, so both byte orders share this.
 */
static size_t aarch64_nop_len(const uint8_t *p, size_t len)
{
	static const uint8_t nop[4] = { 0x1f, 0x20, 0x03, 0xd5 };

	return len >= 4 && !memcmp(p, nop, 4) ? 4 : 0;
}

static size_t aarch64_padding(const uint8_t *p, size_t len)
{
	return leading_padding(p, len, aarch64_nop_len);
}

/*
 * nopr, bc 0 and brcl 0: what gas fills with. The upper half of the second byte
 * is the mask of the condition codes to branch on, 0: never; where to does not
 * matter then. The top two bits of the first byte tell the length of an
 * instruction: 00 has 2 bytes, 01 and 10 have 4, and 11 has 6.
 */
static size_t s390x_nop_len(const uint8_t *p, size_t len)
{
	if (len >= 2 && p[0] == 0x07 && (p[1] & 0xf0) == 0)
		return 2;
	if (len >= 4 && p[0] == 0x47 && (p[1] & 0xf0) == 0)
		return 4;
	if (len >= 6 && p[0] == 0xc0 && p[1] == 0x04)
		return 6;
	return 0;
}

static size_t s390x_padding(const uint8_t *p, size_t len)
{
	return leading_padding(p, len, s390x_nop_len);
}

/* addi zero, zero, 0 and, of two bytes, c.nop. */
static size_t riscv_nop_len(const uint8_t *p, size_t len)
{
	static const uint8_t nop[4] = { 0x13 };

	if (len >= 4 && !memcmp(p, nop, 4))
		return 4;
	return len >= 2 && p[0] == 0x01 && !p[1] ? 2 : 0;
}

static size_t riscv_padding(const uint8_t *p, size_t len)
{
	return leading_padding(p, len, riscv_nop_len);
}

/* ori 0, 0, 0 */
static size_t ppc64le_nop_len(const uint8_t *p, size_t len)
{
	static const uint8_t nop[4] = { 0, 0, 0, 0x60 };

	return len >= 4 && !memcmp(p, nop, 4) ? 4 : 0;
}

static size_t ppc64le_padding(const uint8_t *p, size_t len)
{
	return leading_padding(p, len, ppc64le_nop_len);
}

/*
 * Numbers of registers are DWARF's, which each psABI gives out: for AArch64 in
 * AADWARF64, where 31 is sp, 32 the pc, and 34 RA_SIGN_STATE. Rules name
 * registers below 32 only, as many as the 5 bits of a 1-byte FLEX control word
 * know.
 *
 * AMD64 has no number for rip: 16 is the return address.
 */
const struct sfg_arch sfg_arches[SFG_NR_ARCHES] = {
	[SFRAME_ABI_AMD64_LE] = {
		.name = "AMD64", .abi = SFRAME_ABI_AMD64_LE,
		.ei_data = ELFDATA2LSB, .e_machine = EM_X86_64,
		.fixed_ra = -8, .sp = 7, .fp = 6, .ra = 16, .pc = 16,
		.regs = 0xffff, .cfa_scale = 1, .padding = amd64_padding,
	},
	[SFRAME_ABI_AARCH64_LE] = {
		.name = "AArch64", .abi = SFRAME_ABI_AARCH64_LE,
		.ei_data = ELFDATA2LSB, .e_machine = EM_AARCH64,
		.sp = 31, .fp = 29, .ra = 30, .pc = NO_REG,
		.regs = 0xffffffff, .cfa_scale = 1, .fp_needs_ra = true,
		.mangled_ra = true, .padding = aarch64_padding,
	},
	[SFRAME_ABI_AARCH64_BE] = {
		.name = "AArch64 BE", .abi = SFRAME_ABI_AARCH64_BE,
		.ei_data = ELFDATA2MSB, .e_machine = EM_AARCH64,
		.big_endian = true,
		.sp = 31, .fp = 29, .ra = 30, .pc = NO_REG,
		.regs = 0xffffffff, .cfa_scale = 1, .fp_needs_ra = true,
		.mangled_ra = true, .padding = aarch64_padding,
	},
	[SFRAME_ABI_S390X_BE] = {
		/* 0-15 are the general registers, 16-31 f0 to f15 */
		.name = "s390x", .abi = SFRAME_ABI_S390X_BE,
		.ei_data = ELFDATA2MSB, .e_machine = EM_S390,
		.big_endian = true,
		.sp = 15, .fp = 11, .ra = 14, .pc = NO_REG,
		.regs = 0xffffffff, .sp_bias = -160, .sp_slot = true,
		.cfa_scale = 8, .padding = s390x_padding,
	},
};

/*
 * Those that SFrame has no number for. The return address of Power is in lr,
 * which is 65 in the ELFv2 psABI; no rule starts from there.
 */
static const struct sfg_arch others[] = {
	{
		.name = "RISC-V", .abi = SFG_ABI_RISCV64_LE,
		.ei_data = ELFDATA2LSB, .e_machine = EM_RISCV,
		.sp = 2, .fp = 8, .ra = 1, .pc = NO_REG,
		.regs = 0xffffffff, .cfa_scale = 1, .padding = riscv_padding,
	}, {
		.name = "PowerPC ELFv2", .abi = SFG_ABI_PPC64_LE,
		.ei_data = ELFDATA2LSB, .e_machine = EM_PPC64,
		.sp = 1, .fp = 31, .ra = 65, .pc = NO_REG,
		.regs = 0xffffffff, .cfa_scale = 1, .padding = ppc64le_padding,
	},
};

const struct sfg_arch *sfg_any_arch(unsigned int abi)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].abi == abi)
			return &others[i];
	return sfg_arch_by_abi(abi);
}

bool sfg_expressions_see_pc(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch && arch->pc != NO_REG;
}

bool sfg_abi_has_sframe(unsigned int abi)
{
	return sfg_arch_by_abi(abi);
}

size_t sfg_padding(unsigned int abi, const void *code, size_t len)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch && len ? arch->padding(code, len) : 0;
}

/*
 * EM_AARCH64 stands for both byte orders. x32 and ILP32 share their machine
 * with the 64-bit ABI and differ in EI_CLASS, which the caller looks at.
 */
unsigned int sfg_abi_of_elf(unsigned int e_machine, unsigned int ei_data)
{
	size_t i;

	for (i = 0; i < SFG_NR_ARCHES; i++)
		if (sfg_arches[i].abi && sfg_arches[i].e_machine == e_machine &&
		    sfg_arches[i].ei_data == ei_data)
			return sfg_arches[i].abi;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].e_machine == e_machine &&
		    others[i].ei_data == ei_data)
			return others[i].abi;
	return 0;
}

unsigned int sfg_elf_machine(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch->e_machine : 0;
}

/*
 * Not in the order that instructions have them: there rcx is 1 and rdx 2, and 4
 * to 7 are rsp, rbp, rsi and rdi.
 */
static const char *const amd64_regs[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static const char *const plain_regs[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	"r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23",
	"r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31",
};

const char *sfg_abi_name(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch->name : "?";
}

const char *sfg_reg_name(unsigned int abi, unsigned int reg)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	if (!arch)
		return "?";
	if (reg == arch->sp)
		return "sp";
	if (reg == arch->fp)
		return "fp";
	if (arch->abi == SFRAME_ABI_AMD64_LE && reg < ARRAY_SIZE(amd64_regs))
		return amd64_regs[reg];
	return reg < ARRAY_SIZE(plain_regs) ? plain_regs[reg] : "?";
}

const char *sfg_reason_text(enum sfg_reason reason)
{
	static const char *const text[SFG_R_MAX] = {
		[SFG_COVERED] = "covered",
		[SFG_R_CFA_EXPR] = "CFA expression beyond the format",
		[SFG_R_CFA_NONE] = "no CFA rule",
		[SFG_R_CFA_REG] = "CFA from a register not in the format",
		[SFG_R_RA_RULE] = "return address rule beyond the format",
		[SFG_R_RA_NONE] = "no return address rule",
		[SFG_R_FP_RULE] = "frame pointer rule beyond the format",
		[SFG_R_SP_RULE] = "caller's stack pointer is not the CFA",
		[SFG_R_OFFSET] = "offset beyond the format",
		[SFG_R_AUGMENTATION] = "unknown CIE augmentation or version",
		[SFG_R_ENCODING] = "pointer encoding not usable",
		[SFG_R_RA_COLUMN] = "unusual return address column",
		[SFG_R_OPCODE] = "unknown CFI instruction",
		[SFG_R_STATE] = "restore without remember, or too many",
		[SFG_R_OVERLAP] = "overlaps an earlier function",
		[SFG_R_OUTSIDE] = "outside of the text",
		[SFG_R_EMPTY] = "zero size",
	};

	return (unsigned int)reason < SFG_R_MAX ? text[reason] : "?";
}
