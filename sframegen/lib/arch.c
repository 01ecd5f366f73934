// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Lookups in the table of machines. */
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

size_t sfg_leading_zeros(const uint8_t *p, size_t len)
{
	size_t n = 0;

	while (n < len && !p[n])
		n++;
	return n;
}

/* Matches the first four bytes against the table of nops. */
static size_t nop_len(const struct sfg_arch *arch, const uint8_t *p, size_t len)
{
	const struct sfg_nop *nop;
	uint32_t v = 0;
	size_t i;

	for (i = 0; i < 4; i++)
		v = v << 8 | (i < len ? p[i] : 0);
	for (nop = arch->nops; nop < arch->nops + SFG_MAX_NOPS; nop++)
		if (nop->len && nop->len <= len && (v & nop->mask) == nop->bits)
			return nop->len;
	return 0;
}

size_t sfg_leading_nops(const struct sfg_arch *arch, const uint8_t *p,
			size_t len)
{
	size_t n = 0, nop;

	for (; n < len; n += nop) {
		nop = arch->nop_len ? arch->nop_len(p + n, len - n) :
				      nop_len(arch, p + n, len - n);
		if (!nop)
			break;
	}
	return n;
}

const struct sfg_arch *sfg_find_arch(unsigned int abi)
{
	size_t i;

	/* Most machines have trial_abi 0, so 0 would match them. */
	if (!abi)
		return NULL;
	for (i = 0; i < sfg_nr_machines; i++)
		if (sfg_arches[i].abi == abi || sfg_arches[i].trial_abi == abi)
			return &sfg_arches[i];
	return NULL;
}

unsigned int sfg_trial_abi(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch->trial_abi : 0;
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

/*
 * A gap holds nops, or the linker's zeros. Zeros that follow nops count as
 * code: 00 00 is add %al,(%rax) on AMD64. Test for nops first: Power's begins
 * with zeros.
 */
size_t sfg_padding(unsigned int abi, const void *code, size_t len)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	size_t nops;

	if (!arch)
		return 0;
	nops = sfg_leading_nops(arch, code, len);
	return nops ? nops : sfg_leading_zeros(code, len);
}

/*
 * EM_AARCH64 covers both byte orders. x32 and ILP32 differ from the 64-bit ABI
 * only in EI_CLASS, which the caller checks.
 */
unsigned int sfg_abi_of_elf(unsigned int e_machine, unsigned int ei_data)
{
	size_t i;

	for (i = 0; i < sfg_nr_machines; i++)
		if (sfg_arches[i].e_machine == e_machine &&
		    sfg_arches[i].ei_data == ei_data)
			return sfg_arches[i].abi;
	return 0;
}

unsigned int sfg_elf_machine(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch->e_machine : 0;
}

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
	if (arch->reg_names && reg < 16)
		return arch->reg_names[reg];
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
		[SFG_R_OVERLAP] = "overlaps another function",
		[SFG_R_OUTSIDE] = "outside of the text",
		[SFG_R_EMPTY] = "zero size",
		[SFG_R_ADDRESS] = "address that no relocation resolves",
	};

	return (unsigned int)reason < SFG_R_MAX ? text[reason] : "?";
}
