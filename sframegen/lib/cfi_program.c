// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The CFI state machine of DWARF 5, section 6.4, with the GNU additions. */
#include "cfi.h"
#include "dwarf_cfi.h"

/* Compilers nest remember_state two deep. */
#define REMEMBER_MAX	64

struct run {
	const struct cfi_table *t;
	const struct cfi_cie *cie;
	struct cursor c;
	struct cfi_state state;
	struct cfi_state remembered[REMEMBER_MAX];
	unsigned int depth;
	enum sfg_reason refused;	/* unknown from 'at' on */
	/* for an FDE */
	struct cfi_sink *sink;
	uint64_t start, size, at;
};

static void refuse_rest(struct run *run, enum sfg_reason reason)
{
	if (!run->refused)
		run->refused = reason;
}

/* The slot for the rule of a register, or NULL if we do not track it. */
static struct cfi_rule *rule_of(struct run *run, struct cfi_state *state,
				uint64_t reg)
{
	const struct sfg_arch *arch = run->t->arch;

	if (reg == arch->ra)
		return &state->ra;
	if (reg == arch->fp)
		return &state->fp;
	if (reg == arch->sp)
		return &state->sp;
	return reg == run->t->other ? &state->other : NULL;
}

static bool is_sign_state(const struct run *run, uint64_t reg)
{
	return run->t->arch->mangled_ra && reg == DW_AARCH64_RA_SIGN_STATE;
}

/*
 * Bit 0 of RA_SIGN_STATE is set if paciasp or the like signed the return
 * address. CFI sets it by a constant expression; the result of any other rule
 * is unknown until the program runs.
 */
static uint8_t sign_state(const struct run *run, const struct cfi_rule *rule)
{
	unsigned int period = 0;
	uint64_t budget = rule->expr_len;
	const struct sfg_expr expr = {
		.arch = run->t->arch, .code = run->t->data + rule->expr,
		.len = rule->expr_len, .cfa_pushed = true, .period = &period,
		.budget = &budget,
	};
	struct sfg_value v;

	if (rule->kind != CFI_VAL_EXPRESSION || !sfg_eval(&expr, &v) ||
	    v.kind != SFG_VALUE_CONST || period || (v.offset & ~1))
		return CFI_UNKNOWN_RA;
	return v.offset ? CFI_MANGLED_RA : CFI_PLAIN_RA;
}

static void set_rule(struct run *run, uint64_t reg, struct cfi_rule rule)
{
	struct cfi_rule *r = rule_of(run, &run->state, reg);

	if (r)
		*r = rule;
	if (is_sign_state(run, reg))
		run->state.mangled_ra = sign_state(run, &rule);
}

static void set_kind(struct run *run, uint64_t reg, enum cfi_rule_kind kind)
{
	set_rule(run, reg, (struct cfi_rule) { .kind = kind });
}

static struct cfi_rule refused_rule(enum sfg_reason reason)
{
	return (struct cfi_rule) { .kind = CFI_REFUSED, .refused = reason };
}

/* Factors a signed offset. An overflow makes a rule that gives no row. */
static struct cfi_rule factored(const struct run *run, int64_t offset,
				enum cfi_rule_kind kind)
{
	struct cfi_rule rule = { .kind = kind };

	if (__builtin_mul_overflow(offset, run->cie->data_align, &rule.offset))
		return refused_rule(SFG_R_OFFSET);
	return rule;
}

static struct cfi_rule factored_unsigned(const struct run *run,
					 uint64_t offset,
					 enum cfi_rule_kind kind)
{
	if (offset > INT64_MAX)
		return refused_rule(SFG_R_OFFSET);
	return factored(run, offset, kind);
}

/* Restores the CIE's rule, not that of the last remembered state (6.4.2.3). */
static void restore_rule(struct run *run, uint64_t reg)
{
	struct cfi_state initial = run->cie->initial;
	struct cfi_rule *r = rule_of(run, &initial, reg);

	if (r)
		set_rule(run, reg, *r);
	if (is_sign_state(run, reg))
		run->state.mangled_ra = initial.mangled_ra;
}

static struct cfi_rule block(struct run *run, enum cfi_rule_kind kind)
{
	struct cfi_rule rule = { .kind = kind };
	uint64_t len = cursor_uleb(&run->c);

	rule.expr = run->c.pos;
	if (cursor_take(&run->c, len))
		rule.expr_len = len;
	return rule;
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->state.cfa = (struct cfi_rule) {
		.kind = CFI_REGISTER, .reg = reg, .offset = offset,
	};
}

static void set_cfa_unsigned(struct run *run, uint64_t reg, uint64_t offset)
{
	if (offset > INT64_MAX)
		run->state.cfa = refused_rule(SFG_R_OFFSET);
	else
		set_cfa(run, reg, offset);
}

/* Only a register rule allows changing the register or offset alone. */
static bool cfa_is_register(struct run *run)
{
	struct cfi_rule *cfa = &run->state.cfa;

	if (cfa->kind == CFI_REGISTER)
		return true;
	if (cfa->kind == CFI_VAL_EXPRESSION)
		*cfa = refused_rule(SFG_R_CFA_EXPR);
	else if (cfa->kind != CFI_REFUSED)
		*cfa = refused_rule(SFG_R_CFA_NONE);
	return false;
}

/* Not factored, unlike the operand of def_cfa_offset_sf (6.4.2.2). */
static void set_cfa_offset(struct run *run, uint64_t offset)
{
	if (cfa_is_register(run))
		set_cfa_unsigned(run, run->state.cfa.reg, offset);
}

/*
 * Keeps the offset (6.4.2.2). gas's SFrame loses an offset set at the same
 * place: it says fp+8 for a frame of `.cfi_def_cfa_offset 16` and
 * `.cfi_def_cfa_register`, which --verify reports.
 *
 * gas's RISC-V CIE has only this instruction; readers start at offset 0.
 */
static void set_cfa_register(struct run *run, uint64_t reg)
{
	if (!run->sink && run->state.cfa.kind == CFI_UNSPECIFIED)
		set_cfa(run, reg, 0);
	else if (cfa_is_register(run))
		run->state.cfa.reg = reg;
}

static void set_cfa_factored(struct run *run, uint64_t reg, int64_t offset)
{
	struct cfi_rule rule = factored(run, offset, CFI_REGISTER);

	rule.reg = reg;
	run->state.cfa = rule;
}

/* Returns 1 if handled, 0 for another kind of instruction. */
static int run_cfa_op(struct run *run, unsigned int op)
{
	struct cursor *c = &run->c;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		set_cfa_unsigned(run, reg, cursor_uleb(c));
		return 1;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		set_cfa_factored(run, reg, cursor_sleb(c));
		return 1;
	case DW_CFA_def_cfa_register:
		set_cfa_register(run, cursor_uleb(c));
		return 1;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(run, cursor_uleb(c));
		return 1;
	case DW_CFA_def_cfa_offset_sf:
		if (cfa_is_register(run))
			set_cfa_factored(run, run->state.cfa.reg,
					 cursor_sleb(c));
		else
			cursor_sleb(c);
		return 1;
	case DW_CFA_def_cfa_expression:
		run->state.cfa = block(run, CFI_VAL_EXPRESSION);
		return 1;
	}
	return 0;
}

/* A leaf function of s390x may keep r14 and r15 in floating-point registers. */
static void run_register(struct run *run)
{
	uint64_t reg = cursor_uleb(&run->c);
	uint64_t from = cursor_uleb(&run->c);

	set_rule(run, reg, (struct cfi_rule) {
		.kind = CFI_REGISTER, .reg = from,
	});
}

static void run_unsigned_offset(struct run *run, enum cfi_rule_kind kind)
{
	uint64_t reg = cursor_uleb(&run->c);

	set_rule(run, reg,
		 factored_unsigned(run, cursor_uleb(&run->c), kind));
}

static void run_signed_offset(struct run *run, enum cfi_rule_kind kind)
{
	uint64_t reg = cursor_uleb(&run->c);

	set_rule(run, reg, factored(run, cursor_sleb(&run->c), kind));
}

/* Predates offset_extended_sf of DWARF 3. */
static void run_negative_offset(struct run *run)
{
	uint64_t reg = cursor_uleb(&run->c);
	uint64_t offset = cursor_uleb(&run->c);

	if (offset > INT64_MAX)
		set_rule(run, reg, refused_rule(SFG_R_OFFSET));
	else
		set_rule(run, reg,
			 factored(run, -(int64_t)offset, CFI_OFFSET));
}

static void run_block(struct run *run, enum cfi_rule_kind kind)
{
	uint64_t reg = cursor_uleb(&run->c);

	set_rule(run, reg, block(run, kind));
}

static int run_register_op(struct run *run, unsigned int op)
{
	switch (op) {
	case DW_CFA_offset_extended:
		run_unsigned_offset(run, CFI_OFFSET);
		return 1;
	case DW_CFA_offset_extended_sf:
		run_signed_offset(run, CFI_OFFSET);
		return 1;
	case DW_CFA_val_offset:
		run_unsigned_offset(run, CFI_VAL_OFFSET);
		return 1;
	case DW_CFA_val_offset_sf:
		run_signed_offset(run, CFI_VAL_OFFSET);
		return 1;
	case DW_CFA_GNU_negative_offset_extended:
		run_negative_offset(run);
		return 1;
	case DW_CFA_restore_extended:
		restore_rule(run, cursor_uleb(&run->c));
		return 1;
	case DW_CFA_undefined:
		set_kind(run, cursor_uleb(&run->c), CFI_UNDEFINED);
		return 1;
	case DW_CFA_same_value:
		set_kind(run, cursor_uleb(&run->c), CFI_SAME_VALUE);
		return 1;
	case DW_CFA_register:
		run_register(run);
		return 1;
	case DW_CFA_expression:
		run_block(run, CFI_EXPRESSION);
		return 1;
	case DW_CFA_val_expression:
		run_block(run, CFI_VAL_EXPRESSION);
		return 1;
	}
	return 0;
}

/*
 * Includes the CFA: DWARF says "the set of rules for every register", and
 * compilers rely on unwinders that count the CFA among them.
 */
static void remember(struct run *run)
{
	if (run->depth == REMEMBER_MAX)
		refuse_rest(run, SFG_R_STATE);
	else
		run->remembered[run->depth++] = run->state;
}

static void restore(struct run *run)
{
	if (!run->depth)
		refuse_rest(run, SFG_R_STATE);
	else
		run->state = run->remembered[--run->depth];
}

/*
 * The opcode is SPARC's GNU_window_save. On AArch64 it flips bit 0 of
 * RA_SIGN_STATE, a CFI-only register that is 0 at function entry (AADWARF64):
 * whether paciasp or the like signed the return address.
 * negate_ra_state_with_pc (PAuth_LR) is for signatures that include the pc.
 * SFrame has no mark for them, so it is refused as unknown.
 */
static void toggle_mangled(struct run *run)
{
	if (!run->t->arch->mangled_ra)
		refuse_rest(run, SFG_R_OPCODE);
	else if (run->state.mangled_ra != CFI_UNKNOWN_RA)
		run->state.mangled_ra ^= CFI_MANGLED_RA;
}

/*
 * GNU_args_size tells landing pads how many bytes of arguments were pushed; the
 * CFA offset already includes them. nop pads records.
 */
static int run_state_op(struct run *run, unsigned int op)
{
	switch (op) {
	case DW_CFA_nop:
		return 1;
	case DW_CFA_remember_state:
		remember(run);
		return 1;
	case DW_CFA_restore_state:
		restore(run);
		return 1;
	case DW_CFA_GNU_args_size:
		cursor_uleb(&run->c);
		return 1;
	case DW_CFA_AARCH64_negate_ra_state:
		toggle_mangled(run);
		return 1;
	}
	return 0;
}

/*
 * gas may advance to the end of the function, where no code is left for later
 * rules. Do not emit an empty stretch: row starts must increase.
 */
static int emit_to(struct run *run, uint64_t to)
{
	int ret;

	if (to > run->size)
		to = run->size;
	if (to <= run->at)
		return 0;
	ret = run->sink->emit(run->sink, run->start + run->at,
			      run->start + to, &run->state, run->refused);
	run->at = to;
	return ret;
}

/*
 * In units of the CIE's code alignment, 4 in gas's output for AArch64. An
 * overflow is past the function's end as well.
 */
static int advance(struct run *run, uint64_t delta)
{
	uint64_t to;

	/* a CIE's initial state has no address */
	if (!run->sink) {
		refuse_rest(run, SFG_R_STATE);
		return 0;
	}
	if (__builtin_mul_overflow(delta, run->cie->code_align, &delta) ||
	    __builtin_add_overflow(run->at, delta, &to))
		to = UINT64_MAX;
	return emit_to(run, to);
}

/*
 * The only advance to an absolute address, encoded as in FDEs. It never goes
 * back (6.4.2.1).
 */
static int run_set_loc(struct run *run)
{
	enum sfg_reason reason;
	uint64_t to;

	reason = sfg_cfi_read_pointer(run->t, &run->c,
				      run->cie->pointer_encoding, &to);
	if (reason)
		refuse_rest(run, reason);
	if (!run->sink || to < run->start || to - run->start < run->at)
		refuse_rest(run, SFG_R_STATE);
	return run->refused ? 0 : emit_to(run, to - run->start);
}

/* Returns 0, -errno of the sink, or 1 if it is no advance. */
static int run_advance_op(struct run *run, unsigned int op)
{
	switch (op) {
	case DW_CFA_set_loc:
		return run_set_loc(run);
	case DW_CFA_advance_loc1:
		return advance(run, cursor_u8(&run->c));
	case DW_CFA_advance_loc2:
		return advance(run, cursor_u16(&run->c));
	case DW_CFA_advance_loc4:
		return advance(run, cursor_u32(&run->c));
	case DW_CFA_MIPS_advance_loc8:
		return advance(run, cursor_u64(&run->c));
	}
	return 1;
}

/*
 * The top two bits encode three instructions, with their operand in the other
 * six. If they are 0, the six are the opcode (7.24).
 */
static int run_instruction(struct run *run)
{
	unsigned int byte = cursor_u8(&run->c), low = byte & 0x3f;
	int ret;

	switch (byte & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(run, low);
	case DW_CFA_offset:
		set_rule(run, low, factored_unsigned(run,
					cursor_uleb(&run->c), CFI_OFFSET));
		return 0;
	case DW_CFA_restore:
		restore_rule(run, low);
		return 0;
	}
	ret = run_advance_op(run, byte);
	if (ret <= 0)
		return ret;
	if (!run_cfa_op(run, byte) && !run_register_op(run, byte) &&
	    !run_state_op(run, byte))
		refuse_rest(run, SFG_R_OPCODE);
	return 0;
}

/*
 * Runs until the end, the first refusal or the end of the code. A refusal
 * covers the rest of the function: the operands of an unknown instruction have
 * no known length.
 */
static int run_program(struct run *run, struct sfg_error *err)
{
	size_t pos;
	int ret;

	while (cursor_left(&run->c) && !run->refused &&
	       !(run->sink && run->at >= run->size)) {
		pos = run->c.pos;
		ret = run_instruction(run);
		if (run->c.bad)
			return sfg_fail(err, pos,
					"CFI instruction is truncated",
					-EINVAL);
		if (ret)
			return sfg_fail(err, pos, "out of memory", ret);
	}
	return 0;
}

/*
 * Set fields one by one: 'remembered' alone is over 8 KiB, and most programs
 * have a few bytes.
 */
int sfg_cfi_run_cie(const struct cfi_table *t, struct cfi_cie *cie,
		    struct sfg_error *err)
{
	struct run run;
	int ret;

	run.t = t;
	run.cie = cie;
	run.sink = NULL;
	run.depth = 0;
	run.refused = SFG_COVERED;
	memset(&run.state, 0, sizeof(run.state));
	cursor_init(&run.c, t->data, cie->program, cie->program_end,
		    t->arch->big_endian);
	ret = run_program(&run, err);
	cie->initial = run.state;
	cie->refused = run.refused;
	return ret;
}

int sfg_cfi_run_fde(const struct cfi_table *t, const struct cfi_fde *fde,
		    struct cfi_sink *sink, struct sfg_error *err)
{
	const struct cfi_cie *cie = &t->cies[fde->cie];
	struct run run;
	int ret;

	run.t = t;
	run.cie = cie;
	run.sink = sink;
	run.depth = 0;
	run.refused = cie->refused;
	run.state = cie->initial;
	run.start = fde->start;
	run.size = fde->size;
	run.at = 0;
	cursor_init(&run.c, t->data, fde->program, fde->program_end,
		    t->arch->big_endian);
	ret = run_program(&run, err);
	if (ret)
		return ret;
	ret = emit_to(&run, run.size);
	return ret ? sfg_fail(err, fde->offset, "out of memory", ret) : 0;
}
