// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Makes a row from a CFI state, or returns why there is none. */
#include "cfi.h"

struct maker {
	struct cfi_table *t;
	uint64_t pc;
	unsigned int *period;
};

/* The widest data word of a row has 4 bytes. */
static bool fits_s32(int64_t v)
{
	return v == (int32_t)v;
}

static struct sfjit_rule reg_rule(unsigned int reg, int64_t offset, bool deref)
{
	return (struct sfjit_rule) {
		.offset = offset, .reg = reg, .base = SFJIT_BASE_REG,
		.deref = deref,
	};
}

static struct sfjit_rule cfa_rule(int64_t offset, bool deref)
{
	return (struct sfjit_rule) {
		.offset = offset, .base = SFJIT_BASE_CFA, .deref = deref,
	};
}

static bool eval(struct maker *m, const struct cfi_rule *rule, bool cfa_pushed,
		 struct sfg_value *value)
{
	struct sfg_expr expr = {
		.arch = m->t->arch,
		.code = m->t->data + rule->expr,
		.len = rule->expr_len,
		.cfa_pushed = cfa_pushed,
		.pc = m->pc,
		.period = m->period,
		.budget = &m->t->budget,
	};

	return sfg_eval(&expr, value) && fits_s32(value->offset) &&
	       fits_s32(value->addend);
}

/*
 * Functions that realign their stack (GCC) find the CFA by a load, often
 * [rbp-8]; most of OpenSSL's assembly by a load and an addend; linkers' PLT
 * entries by the pc.
 */
static enum sfg_reason cfa_from_expression(struct maker *m,
					   const struct cfi_rule *rule,
					   struct sfjit_rule *cfa)
{
	struct sfg_value v;

	if (!eval(m, rule, false, &v))
		return SFG_R_CFA_EXPR;
	if (v.kind != SFG_VALUE_REG && v.kind != SFG_VALUE_REG_LOAD)
		return SFG_R_CFA_EXPR;
	if (v.addend && !m->t->addends)
		return SFG_R_CFA_EXPR;
	*cfa = reg_rule(v.reg, v.offset, v.kind == SFG_VALUE_REG_LOAD);
	cfa->addend = v.addend;
	return SFG_COVERED;
}

static enum sfg_reason make_cfa(struct maker *m, const struct cfi_rule *rule,
				struct sfjit_rule *cfa)
{
	switch (rule->kind) {
	case CFI_REGISTER:
		if (!arch_has_reg(m->t->arch, rule->reg))
			return SFG_R_CFA_REG;
		if (!fits_s32(rule->offset))
			return SFG_R_OFFSET;
		*cfa = reg_rule(rule->reg, rule->offset, false);
		return SFG_COVERED;
	case CFI_VAL_EXPRESSION:
		return cfa_from_expression(m, rule, cfa);
	case CFI_REFUSED:
		return rule->refused;
	}
	return SFG_R_CFA_NONE;
}

/*
 * Turns an address (with 'value': a value) into a rule. SFrame loads once, so
 * an address that was itself loaded has no rule, nor has a sum with a loaded
 * word.
 */
static bool rule_from_value(const struct sfg_value *v, bool value,
			    struct sfjit_rule *rule)
{
	if (v->addend)
		return false;
	switch (v->kind) {
	case SFG_VALUE_REG:
		*rule = reg_rule(v->reg, v->offset, !value);
		return true;
	case SFG_VALUE_CFA:
		*rule = cfa_rule(v->offset, !value);
		return true;
	case SFG_VALUE_REG_LOAD:
		*rule = reg_rule(v->reg, v->offset, true);
		return value;
	case SFG_VALUE_CFA_LOAD:
		*rule = cfa_rule(v->offset, true);
		return value;
	default:
		return false;
	}
}

/* Makes a rule from a place or a value; false: not expressible. */
static bool make_rule(struct maker *m, const struct cfi_rule *rule,
		      struct sfjit_rule *out)
{
	struct sfg_value v;

	switch (rule->kind) {
	case CFI_OFFSET:
	case CFI_VAL_OFFSET:
		*out = cfa_rule(rule->offset, rule->kind == CFI_OFFSET);
		return fits_s32(rule->offset);
	case CFI_REGISTER:
		*out = reg_rule(rule->reg, 0, false);
		return arch_has_reg(m->t->arch, rule->reg);
	case CFI_EXPRESSION:
	case CFI_VAL_EXPRESSION:
		return eval(m, rule, true, &v) &&
		       rule_from_value(&v, rule->kind == CFI_VAL_EXPRESSION,
				       out);
	}
	return false;
}

static bool is_register_itself(const struct sfjit_rule *rule, unsigned int reg)
{
	return rule->base == SFJIT_BASE_REG && rule->reg == reg &&
	       !rule->deref && !rule->offset;
}

/*
 * In all ABIs here callees preserve the frame pointer, so without a rule it is
 * unchanged. SFrame encodes "undefined" only for the return address.
 */
static enum sfg_reason make_fp(struct maker *m, const struct cfi_rule *rule,
			       struct sfjit_rule *fp)
{
	if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME_VALUE)
		return SFG_COVERED;
	if (rule->kind == CFI_REFUSED)
		return rule->refused;
	if (!make_rule(m, rule, fp))
		return SFG_R_FP_RULE;
	if (is_register_itself(fp, m->t->arch->fp))
		memset(fp, 0, sizeof(*fp));
	return SFG_COVERED;
}

/*
 * Whether a row without an RA rule means the same. The caller has checked that
 * a rule based on the CFA is a load.
 */
static bool ra_is_implied(const struct sfg_arch *arch,
			  const struct sfjit_rule *ra)
{
	if (!arch->fixed_ra)
		return is_register_itself(ra, arch->ra);
	return ra->base == SFJIT_BASE_CFA && ra->offset == arch->fixed_ra;
}

static enum sfg_reason make_ra(struct maker *m, const struct cfi_rule *rule,
			       struct sfjit_rule *ra)
{
	const struct sfg_arch *arch = m->t->arch;

	/*
	 * No rule is needed if calls leave the return address in a register.
	 * AMD64's column 16 is no register (psABI 3.6.2), so no rule means no
	 * address.
	 */
	if (rule->kind == CFI_UNSPECIFIED)
		return arch->fixed_ra ? SFG_R_RA_NONE : SFG_COVERED;
	if (rule->kind == CFI_SAME_VALUE)
		return arch->fixed_ra ? SFG_R_RA_RULE : SFG_COVERED;
	if (rule->kind == CFI_REFUSED)
		return rule->refused;
	if (!make_rule(m, rule, ra))
		return SFG_R_RA_RULE;
	/* CFA plus offset is no return address */
	if (ra->base == SFJIT_BASE_CFA && !ra->deref)
		return SFG_R_RA_RULE;
	if (ra_is_implied(arch, ra))
		memset(ra, 0, sizeof(*ra));
	return SFG_COVERED;
}

/*
 * SFrame has no rule for the stack pointer: it must be the CFA's. On s390x
 * functions store r15 in the ABI's slot together with the registers they need,
 * and leaf functions keep it in a floating-point register. Both hold the stack
 * pointer on entry, which is the CFA less 160.
 */
static enum sfg_reason check_sp(struct maker *m, const struct cfi_rule *rule)
{
	const struct sfg_arch *arch = m->t->arch;
	struct sfjit_rule sp;

	if (rule->kind == CFI_UNSPECIFIED)
		return SFG_COVERED;
	if (rule->kind == CFI_REFUSED)
		return rule->refused;
	if (!make_rule(m, rule, &sp))
		return SFG_R_SP_RULE;
	if (arch->sp_kept && rule->kind == CFI_REGISTER)
		return SFG_COVERED;
	if (sp.base != SFJIT_BASE_CFA)
		return SFG_R_SP_RULE;
	if (sp.deref)
		return arch->sp_kept ? SFG_COVERED : SFG_R_SP_RULE;
	return sp.offset == arch->sp_bias ? SFG_COVERED : SFG_R_SP_RULE;
}

/* Flags of a row; without them it is not known. */
static uint32_t third_register(const struct cfi_table *t,
			       const struct cfi_rule *rule)
{
	switch (rule->kind) {
	case CFI_UNSPECIFIED:
		return t->jit ? 0 : SFJIT_ROW_RBX_KEPT;
	case CFI_SAME_VALUE:
		return SFJIT_ROW_RBX_KEPT;
	case CFI_OFFSET:
		return SFJIT_ROW_RBX_SAVED(rule->offset);
	default:
		return 0;
	}
}

/*
 * Test for an undefined return address first: where stacks end, as in glibc's
 * _start, the other rules are whatever the CIE has.
 */
enum sfg_reason sfg_cfi_make_row(struct cfi_table *t,
				 const struct cfi_state *state, uint64_t pc,
				 struct sfjit_row *row, unsigned int *period)
{
	struct maker m = { .t = t, .pc = pc, .period = period };
	enum sfg_reason reason;

	memset(row, 0, sizeof(*row));
	if (state->ra.kind == CFI_UNDEFINED) {
		row->flags = SFJIT_ROW_OUTERMOST;
		return SFG_COVERED;
	}
	if (state->mangled_ra == CFI_UNKNOWN_RA)
		return SFG_R_RA_RULE;
	if (state->mangled_ra)
		row->flags = SFJIT_ROW_MANGLED_RA;
	reason = make_cfa(&m, &state->cfa, &row->cfa);
	if (!reason)
		reason = make_ra(&m, &state->ra, &row->ra);
	if (!reason)
		reason = make_fp(&m, &state->fp, &row->fp);
	if (!reason)
		reason = check_sp(&m, &state->sp);
	if (!reason && !sfg_row_fits(t->arch, row))
		reason = SFG_R_OFFSET;
	if (!reason && t->third && sfg_row_is_plain(t->arch, row))
		row->flags |= third_register(t, &state->other);
	return reason;
}
