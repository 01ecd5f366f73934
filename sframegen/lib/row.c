// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Which rows SFrame V3 with addends can encode: the CFA from a register, RA and
 * FP from a register or the CFA. The caller's stack pointer is the CFA, on
 * s390x less its bias; no other register is known.
 */
#include "core.h"

static inline bool rule_fits(const struct sfg_arch *arch,
		      const struct sfjit_rule *rule)
{
	if (rule->base == SFJIT_BASE_NONE)
		return true;
	if (rule->deref > 1 || (rule->addend && !rule->deref))
		return false;
	switch (rule->base) {
	case SFJIT_BASE_CFA:
		return rule->reg == 0;
	case SFJIT_BASE_REG:
		return arch_has_reg(arch, rule->reg);
	}
	return false;
}

/* A control word 0 means no rule, so no rule may encode to it. */
static bool ra_fits(const struct sfjit_rule *ra)
{
	return !(ra->base == SFJIT_BASE_CFA && !ra->deref);
}

/* Only the CFA's rule can add to a loaded word. */
static bool has_addend(const struct sfjit_rule *rule)
{
	return rule->base != SFJIT_BASE_NONE && rule->addend;
}

static bool is_slot(const struct sfjit_rule *rule)
{
	return rule->base == SFJIT_BASE_CFA && rule->deref;
}

bool sfg_row_is_plain(const struct sfg_arch *arch, const struct sfjit_row *row)
{
	const struct sfjit_rule *cfa = &row->cfa, *ra = &row->ra;

	return !cfa->deref && (cfa->reg == arch->sp || cfa->reg == arch->fp) &&
	       (ra->base ? is_slot(ra) : arch->fixed_ra) &&
	       (!row->fp.base || is_slot(&row->fp));
}

/*
 * On s390x a CFA offset must be a multiple of 8. gas divides and drops the
 * remainder: it writes 160 for 164.
 */
bool sfg_row_fits(const struct sfg_arch *arch, const struct sfjit_row *row)
{
	if (row->flags & SFJIT_ROW_OUTERMOST)
		return row->flags == SFJIT_ROW_OUTERMOST;
	if (row->flags & ~((arch->mangled_ra ? SFJIT_ROW_MANGLED_RA : 0) |
			   (arch->third ? SFJIT_ROW_RBX : 0)))
		return false;
	if (row->flags & SFJIT_ROW_RBX && !sfg_row_is_plain(arch, row))
		return false;
	if (row->cfa.base != SFJIT_BASE_REG ||
	    (arch->cfa_scale != 1 &&
	     ((int64_t)row->cfa.offset + arch->sp_bias) % arch->cfa_scale))
		return false;
	return rule_fits(arch, &row->cfa) && rule_fits(arch, &row->ra) &&
	       rule_fits(arch, &row->fp) && ra_fits(&row->ra) &&
	       !has_addend(&row->ra) && !has_addend(&row->fp);
}

/*
 * With two words an AArch64 row has the RA's slot and no FP; s390x writes 0 for
 * the RA.
 */
bool sfg_row_is_default(const struct sfg_arch *arch,
			const struct sfjit_row *row)
{
	const struct sfjit_rule *ra = &row->ra, *fp = &row->fp;

	if (row->flags & SFJIT_ROW_OUTERMOST)
		return true;
	if (row->cfa.deref ||
	    (row->cfa.reg != arch->sp && row->cfa.reg != arch->fp))
		return false;
	/* a stored RA word 0 means none */
	if (ra->base && (arch->fixed_ra || !is_slot(ra) || !ra->offset))
		return false;
	if (fp->base && arch->fp_needs_ra && !ra->base)
		return false;
	return !fp->base || is_slot(fp);
}

/*
 * Compares bytes: the structures have no padding, and rows made or read here
 * are zero where a rule has no base.
 */
bool sfg_rows_equal(const struct sfjit_row *a, const struct sfjit_row *b)
{
	return !memcmp(&a->flags, &b->flags,
		       sizeof(*a) - offsetof(struct sfjit_row, flags));
}

int sfg_entry_row(unsigned int abi, struct sfjit_row *row)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	if (!arch)
		return -ENOTSUP;
	memset(row, 0, sizeof(*row));
	row->cfa = sfjit_rule_reg(arch->sp, arch_entry_offset(arch));
	return 0;
}

bool sfg_rows_have_ra(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch && !arch->fixed_ra;
}

bool sfg_rows_have_rbx(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch && arch->third;
}

int64_t sfg_cfa_of_word(unsigned int abi, int32_t word)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch_cfa_offset(arch, word) : 0;
}

int sfg_frame_pointer(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch->fp : -ENOTSUP;
}

bool sfg_row_is_called(unsigned int abi, const struct sfjit_row *row)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	switch (row->ra.base) {
	case SFJIT_BASE_NONE:
		return true;
	case SFJIT_BASE_CFA:
		return row->ra.offset < 0;
	default:
		if (!arch)
			return false;
		return row->ra.deref ? row->ra.reg == arch->fp :
		       row->ra.reg == arch->ra && !arch->fixed_ra;
	}
}

static bool cfa_is_possible(const struct sfg_arch *arch,
			    const struct sfjit_row *row)
{
	const struct sfjit_rule *cfa = &row->cfa;

	if (row->flags & SFJIT_ROW_OUTERMOST || cfa->base != SFJIT_BASE_REG ||
	    cfa->deref)
		return true;
	if (cfa->reg == arch->sp)
		return !(cfa->offset % STACK_WORD) &&
		       cfa->offset >= arch_entry_offset(arch);
	return cfa->reg != arch->fp || !(cfa->offset % STACK_WORD);
}

bool sfg_cfas_are_possible(unsigned int abi, const struct sfjit_row *rows,
			   size_t nr)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	size_t i;

	if (!arch || arch_cfas_are_usual(arch, rows, nr))
		return true;
	for (i = 0; i < nr; i++)
		if (!cfa_is_possible(arch, &rows[i]))
			return false;
	return true;
}

int sfg_stack_pointer(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? arch->sp : -ENOTSUP;
}

int sfg_perf_register(unsigned int abi, unsigned int reg)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	if (!arch || !arch->perf_pc || !arch_has_reg(arch, reg))
		return -ENOTSUP;
	return arch->perf_regs ? arch->perf_regs[reg] : (int)reg;
}

int sfg_perf_pc(unsigned int abi)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch && arch->perf_pc ? arch->perf_pc : -ENOTSUP;
}
