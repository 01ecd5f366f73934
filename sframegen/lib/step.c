// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Steps from a frame to its caller's, by rows or by CFI. */
#include <stdlib.h>

#include "cfi.h"

struct sfg_cfi {
	struct cfi_table table;
	enum { INDEXED, READ, DAMAGED } state;	/* of the table's arrays */
	struct cfi_index index;		/* unless all was read */
	struct cfi_piece *pieces;	/* NULL: no FDEs overlap */
	size_t nr_pieces;
};

/* The FDE of an address, and its CIE. */
struct owner {
	struct cfi_fde fde;
	const struct cfi_cie *cie;	/* use this, not fde.cie */
	struct cfi_cie indexed;		/* the CIE, if the index led to it */
};

/* The caller, as far as known. */
struct caller {
	uint64_t reg[32];
	uint32_t known;
	uint64_t cfa, pc;
};

static void learn(struct caller *caller, unsigned int reg, uint64_t value)
{
	caller->reg[reg] = value;
	caller->known |= 1u << reg;
}

/*
 * AArch64 signs an address in its upper bits. User space has 48 bits unless a
 * program asks mmap() for more (Documentation/arch/arm64/memory.rst in the
 * kernel).
 */
static uint64_t plain_pc(const struct sfg_arch *arch, uint64_t pc)
{
	return arch->mangled_ra ? pc & ((1ULL << 48) - 1) : pc;
}

/* Sets the address that a call or a signal handler returns to. */
static void go_to(const struct sfg_arch *arch, struct sfg_frame *frame,
		  const struct caller *caller, bool signal)
{
	memcpy(frame->reg, caller->reg, sizeof(frame->reg));
	frame->known = caller->known;
	frame->pc = plain_pc(arch, caller->pc);
	frame->called = !signal;
}

/*
 * The address to look up: a call may be the last instruction of its function.
 */
static uint64_t looked_up(const struct sfg_frame *frame, uint64_t bias)
{
	return frame->pc - frame->called - bias;
}

/*
 * Epilogues pop a register without telling CFI: its value is still below the
 * stack pointer, where a copy of the stack does not reach.
 */
static bool is_popped(const struct sfg_arch *arch,
		      const struct sfg_frame *frame, uint64_t cfa,
		      int64_t offset, unsigned int reg)
{
	return frame_has(frame, arch->sp) && frame_has(frame, reg) &&
	       (int64_t)(cfa + offset - frame->reg[arch->sp]) < 0;
}

/* By rows. */

static int row_value(const struct sfg_frame *frame, uint64_t cfa,
		     const struct sfjit_rule *rule, uint64_t *value)
{
	uint64_t base = cfa;

	if (rule->base == SFJIT_BASE_REG) {
		if (!frame_has(frame, rule->reg))
			return -ENODATA;
		base = frame->reg[rule->reg];
	}
	base += (int64_t)rule->offset;
	*value = base;
	if (!rule->deref)
		return 0;
	if (!frame->read(frame->arg, base, value))
		return -EFAULT;
	*value += (int64_t)rule->addend;
	return 0;
}

/* By the row's rule, or where the ABI puts it. */
static int row_ra(const struct sfg_arch *arch, const struct sfg_frame *frame,
		  const struct sfjit_row *row, struct caller *caller)
{
	struct sfjit_rule ra = row->ra;

	if (ra.base == SFJIT_BASE_NONE)
		ra = arch->fixed_ra ? sfjit_rule_saved(arch->fixed_ra) :
				      sfjit_rule_reg(arch->ra, 0);
	return row_value(frame, caller->cfa, &ra, &caller->pc);
}

static int row_fp(const struct sfg_arch *arch, const struct sfg_frame *frame,
		  const struct sfjit_row *row, struct caller *caller)
{
	uint64_t fp;
	int ret;

	if (row->fp.base == SFJIT_BASE_NONE) {
		if (frame_has(frame, arch->fp))
			learn(caller, arch->fp, frame->reg[arch->fp]);
		return 0;
	}
	ret = row_value(frame, caller->cfa, &row->fp, &fp);
	if (ret == -EFAULT && row->fp.base == SFJIT_BASE_CFA &&
	    is_popped(arch, frame, caller->cfa, row->fp.offset, arch->fp)) {
		fp = frame->reg[arch->fp];
		ret = 0;
	}
	if (!ret)
		learn(caller, arch->fp, fp);
	return ret;
}

static bool is_saved(const struct sfjit_rule *rule)
{
	return rule->base == SFJIT_BASE_CFA && rule->deref;
}

/*
 * After a step by a record that may lie anywhere, only the frame pointer is
 * known. If this frame has a record, too, the frame pointer points to it.
 */
static int row_cfa(const struct sfg_arch *arch, const struct sfg_frame *frame,
		   const struct sfjit_row *row, uint64_t *cfa)
{
	int ret = row_value(frame, 0, &row->cfa, cfa);

	if (ret != -ENODATA || arch->record != RECORD_ANYWHERE ||
	    !frame_has(frame, arch->fp) ||
	    !is_saved(&row->fp) || !is_saved(&row->ra) ||
	    (int64_t)row->ra.offset - row->fp.offset != 8)
		return ret;
	*cfa = frame->reg[arch->fp] - row->fp.offset;
	return 0;
}

static int step_row(const struct sfg_arch *arch, struct sfg_frame *frame,
		    const struct sfjit_row *row)
{
	struct caller caller = { .known = 0 };
	int ret;

	if (row->flags & SFJIT_ROW_OUTERMOST)
		return 1;
	ret = row_cfa(arch, frame, row, &caller.cfa);
	if (!ret)
		ret = row_ra(arch, frame, row, &caller);
	if (!ret)
		ret = row_fp(arch, frame, row, &caller);
	if (ret)
		return ret;
	learn(&caller, arch->sp, caller.cfa + arch->sp_bias);
	go_to(arch, frame, &caller, false);
	return 0;
}

int sfg_step_row(unsigned int abi, const struct sfjit_row *row,
		 struct sfg_frame *frame)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);

	return arch ? step_row(arch, frame, row) : -ENOTSUP;
}

int sfg_step_section(const struct sfg_section *section, uint64_t bias,
		     struct sfg_frame *frame)
{
	struct sfjit_function fde;
	struct sfjit_row row;
	int ret = sfg_find_row(section, looked_up(frame, bias), &fde, &row,
			       NULL);

	if (ret)
		return ret;
	if (!(fde.flags & SFJIT_FUNCTION_SIGNAL))
		return step_row(section->arch, frame, &row);
	/* Rows of a signal frame know only the stack pointer. */
	if (!row.flags && !sfg_row_is_called(section->arch->abi, &row))
		return -ENOENT;
	ret = step_row(section->arch, frame, &row);
	if (!ret)
		frame->called = false;
	return ret;
}

/* By a record. */

/* Records go up. Any other value is no frame pointer. */
static void learn_record(const struct sfg_arch *arch, struct caller *caller,
			 uint64_t fp, uint64_t next)
{
	if (arch->record == RECORD_AT_END)
		learn(caller, arch->sp, fp + 16);
	if (arch->record == RECORD_AT_END || next > fp)
		learn(caller, arch->fp, next);
}

int sfg_step_fp(unsigned int abi, struct sfg_frame *frame)
{
	const struct sfg_arch *arch = sfg_any_arch(abi);
	struct caller caller = { .known = 0 };
	uint64_t fp, next;

	if (!arch || arch->record == RECORD_NONE)
		return -ENOTSUP;
	if (!frame_has(frame, arch->fp))
		return -ENODATA;
	fp = frame->reg[arch->fp];
	/* It is on the stack, above the stack pointer. */
	if (fp % 8 || (frame_has(frame, arch->sp) && fp < frame->reg[arch->sp]))
		return -EINVAL;
	if (!frame->read(frame->arg, fp, &next) ||
	    !frame->read(frame->arg, fp + 8, &caller.pc))
		return -EFAULT;
	learn_record(arch, &caller, fp, next);
	go_to(arch, frame, &caller, false);
	return 0;
}

/* By CFI. */

struct stretch {
	struct cfi_sink sink;
	uint64_t addr;
	struct cfi_state state;
	enum sfg_reason refused;
};

/* The sink is the first member. Keeps the wanted stretch, the last one. */
static int keep_stretch(struct cfi_sink *sink, uint64_t lo, uint64_t hi,
			const struct cfi_state *state, enum sfg_reason refused)
{
	struct stretch *s = (struct stretch *)sink;

	if (s->addr - lo >= hi - lo)
		return 0;
	s->state = *state;
	s->refused = refused;
	return -ECANCELED;
}

/* A CIE that was read alone has not been run. */
static bool must_run_cie(const struct owner *owner, uint8_t other)
{
	return other != NO_REG ||
	       (owner->cie == &owner->indexed && !owner->cie->refused);
}

/* Finds the state at an address, with the rule of one more register. */
static int run_to(const struct sfg_cfi *cfi, const struct owner *owner,
		  uint64_t addr, uint8_t other, struct stretch *s)
{
	struct cfi_cie cie = *owner->cie;
	struct cfi_table table = cfi->table;
	struct cfi_fde one = owner->fde;
	int ret = 0;

	table.other = other;
	table.third = false;
	table.cies = &cie;
	one.cie = 0;
	*s = (struct stretch) { .sink.emit = keep_stretch, .addr = addr };
	if (must_run_cie(owner, other))
		ret = sfg_cfi_run_cie(&table, &cie, NULL);
	if (!ret)
		ret = sfg_cfi_run_fde(&table, &one, &s->sink, NULL);
	if (ret != -ECANCELED)
		return ret;
	return s->refused ? -ENOTSUP : 0;
}

static bool eval(const struct sfg_cfi *cfi, const struct sfg_frame *frame,
		 const struct cfi_rule *rule, const uint64_t *cfa,
		 uint64_t *value)
{
	/* they cannot loop, and each operation has a byte */
	uint64_t budget = rule->expr_len;
	struct sfg_expr expr = {
		.arch = cfi->table.arch,
		.code = cfi->table.data + rule->expr,
		.len = rule->expr_len,
		.cfa_pushed = cfa,
		.cfa = cfa ? *cfa : 0,
		.budget = &budget,
		.frame = frame,
	};
	struct sfg_value v;

	if (!sfg_eval(&expr, &v))
		return false;
	*value = v.offset;
	return true;
}

static int find_cfa(const struct sfg_cfi *cfi, const struct sfg_frame *frame,
		    const struct cfi_rule *rule, uint64_t *cfa)
{
	switch (rule->kind) {
	case CFI_REGISTER:
		if (!frame_has(frame, rule->reg))
			return -ENODATA;
		*cfa = frame->reg[rule->reg] + rule->offset;
		return 0;
	case CFI_VAL_EXPRESSION:
		return eval(cfi, frame, rule, NULL, cfa) ? 0 : -ENODATA;
	}
	return -ENOTSUP;
}

/* Evaluates a rule that names a place or a value; false: unknown. */
static bool find_value(const struct sfg_cfi *cfi,
		       const struct sfg_frame *frame,
		       const struct cfi_rule *rule, uint64_t cfa,
		       uint64_t *value)
{
	*value = cfa + rule->offset;
	switch (rule->kind) {
	case CFI_OFFSET:
		return frame->read(frame->arg, *value, value);
	case CFI_VAL_OFFSET:
		return true;
	case CFI_REGISTER:
		if (!frame_has(frame, rule->reg))
			return false;
		*value = frame->reg[rule->reg];
		return true;
	case CFI_EXPRESSION:
		return eval(cfi, frame, rule, &cfa, value) &&
		       frame->read(frame->arg, *value, value);
	case CFI_VAL_EXPRESSION:
		return eval(cfi, frame, rule, &cfa, value);
	}
	return false;
}

/*
 * Without a rule a register is unchanged if the ABI has callees preserve it. An
 * unknown one only affects rules that use it.
 */
static void find_register(const struct sfg_cfi *cfi,
			  const struct sfg_frame *frame,
			  const struct cfi_rule *rule, unsigned int reg,
			  struct caller *caller)
{
	const struct sfg_arch *arch = cfi->table.arch;
	uint64_t value;

	if (rule->kind == CFI_SAME_VALUE ||
	    (rule->kind == CFI_UNSPECIFIED && arch->kept >> reg & 1)) {
		if (frame_has(frame, reg))
			learn(caller, reg, frame->reg[reg]);
	} else if (find_value(cfi, frame, rule, caller->cfa, &value)) {
		learn(caller, reg, value);
	} else if (rule->kind == CFI_OFFSET &&
		   is_popped(arch, frame, caller->cfa, rule->offset, reg)) {
		learn(caller, reg, frame->reg[reg]);
	}
}

/* The caller's stack pointer is the CFA without a rule. */
static void find_sp(const struct sfg_cfi *cfi, const struct sfg_frame *frame,
		    const struct cfi_rule *rule, struct caller *caller)
{
	const struct sfg_arch *arch = cfi->table.arch;

	if (rule->kind == CFI_UNSPECIFIED)
		learn(caller, arch->sp, caller->cfa + arch->sp_bias);
	else
		find_register(cfi, frame, rule, arch->sp, caller);
}

static int find_ra(const struct sfg_cfi *cfi, const struct sfg_frame *frame,
		   const struct cfi_rule *rule, struct caller *caller)
{
	const struct sfg_arch *arch = cfi->table.arch;

	if (rule->kind == CFI_REFUSED)
		return -ENOTSUP;
	if (rule->kind != CFI_UNSPECIFIED && rule->kind != CFI_SAME_VALUE)
		return find_value(cfi, frame, rule, caller->cfa,
				  &caller->pc) ? 0 : -ENODATA;
	if (arch->fixed_ra)
		return -ENOTSUP;
	if (!frame_has(frame, arch->ra))
		return -ENODATA;
	caller->pc = frame->reg[arch->ra];
	return 0;
}

/* Bits of registers that struct cfi_state has no rule for. */
static uint32_t others(const struct sfg_arch *arch)
{
	/* Power has a number for the return address that is no bit */
	uint32_t ra = arch->ra < 32 ? 1u << arch->ra : 0;

	return arch->regs & ~(1u << arch->sp | 1u << arch->fp | ra);
}

/* One run for what rows know, and one for each other register. */
static unsigned int nr_runs(const struct sfg_arch *arch)
{
	uint32_t bits = others(arch);
	unsigned int nr = 1;

	for (; bits; bits &= bits - 1)
		nr++;
	return nr;
}

static int find_others(const struct sfg_cfi *cfi, const struct owner *owner,
		       const struct sfg_frame *frame, uint64_t addr,
		       struct caller *caller)
{
	const struct sfg_arch *arch = cfi->table.arch;
	struct stretch s;
	unsigned int reg;
	int ret;

	for (reg = 0; reg < 32; reg++) {
		if (!(others(arch) >> reg & 1))
			continue;
		ret = run_to(cfi, owner, addr, reg, &s);
		if (ret)
			return ret;
		find_register(cfi, frame, &s.state.other, reg, caller);
	}
	return 0;
}

static int step_state(const struct sfg_cfi *cfi, const struct owner *owner,
		      const struct cfi_state *state, uint64_t addr,
		      struct sfg_frame *frame)
{
	struct caller caller = { .known = 0 };
	int ret;

	if (state->ra.kind == CFI_UNDEFINED)
		return 1;
	ret = find_cfa(cfi, frame, &state->cfa, &caller.cfa);
	if (!ret)
		ret = find_ra(cfi, frame, &state->ra, &caller);
	if (!ret)
		ret = find_others(cfi, owner, frame, addr, &caller);
	if (ret)
		return ret;
	find_register(cfi, frame, &state->fp, cfi->table.arch->fp, &caller);
	find_sp(cfi, frame, &state->sp, &caller);
	go_to(cfi->table.arch, frame, &caller,
	      owner->cie->fde_flags & SFJIT_FUNCTION_SIGNAL);
	return 0;
}

/* The last address is never code, so no end wraps to 0. */
static bool has_code(const struct cfi_fde *fde)
{
	return fde->size && fde->start + fde->size > fde->start;
}

/*
 * Drops empty FDEs, and discarded functions, which would seem to own all code
 * up to their size.
 */
static void drop_unused(struct cfi_table *t)
{
	size_t i, nr = t->nr_fdes;

	t->nr_fdes = 0;
	for (i = 0; i < nr; i++)
		if (has_code(&t->fdes[i]) &&
		    !sfg_cfi_is_discarded(t, &t->fdes[i]))
			t->fdes[t->nr_fdes++] = t->fdes[i];
}

static bool some_overlap(const struct cfi_table *t)
{
	size_t i;

	for (i = 1; i < t->nr_fdes; i++)
		if (t->fdes[i].start - t->fdes[i - 1].start <
		    t->fdes[i - 1].size)
			return true;
	return false;
}

static int find_pieces(struct sfg_cfi *cfi)
{
	const struct cfi_table *t = &cfi->table;
	const struct cfi_fde **fdes;
	size_t i;
	int ret;

	cfi->pieces = NULL;
	cfi->nr_pieces = 0;
	if (!some_overlap(t))
		return 0;
	fdes = malloc(t->nr_fdes * sizeof(*fdes));
	if (!fdes)
		return -ENOMEM;
	for (i = 0; i < t->nr_fdes; i++)
		fdes[i] = &t->fdes[i];
	ret = sfg_cfi_pieces(fdes, t->nr_fdes, &cfi->pieces, &cfi->nr_pieces);
	free(fdes);
	return ret;
}

/* Returns the FDE that owns this code. */
static const struct cfi_fde *find_in_pieces(const struct sfg_cfi *cfi,
					    uint64_t addr)
{
	const struct cfi_piece *piece;
	size_t lo = 0, hi = cfi->nr_pieces, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (cfi->pieces[mid].lo <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	piece = lo ? &cfi->pieces[lo - 1] : NULL;
	return piece && addr < piece->hi ? &cfi->table.fdes[piece->fde] : NULL;
}

static const struct cfi_fde *find_in_table(const struct sfg_cfi *cfi,
					   uint64_t addr)
{
	const struct cfi_table *t = &cfi->table;
	const struct cfi_fde *fde;
	size_t lo = 0, hi = t->nr_fdes, mid;

	if (cfi->pieces)
		return find_in_pieces(cfi, addr);

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->fdes[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	fde = &t->fdes[lo - 1];
	return addr - fde->start < fde->size ? fde : NULL;
}

static bool find_by_index(const struct sfg_cfi *cfi, uint64_t addr,
			  struct owner *owner)
{
	uint64_t offset;

	owner->cie = &owner->indexed;
	return sfg_cfi_look_up(&cfi->index, addr, cfi->table.addr, &offset) &&
	       sfg_cfi_read_fde(&cfi->table, offset, &owner->indexed,
				&owner->fde) &&
	       has_code(&owner->fde) &&
	       addr - owner->fde.start < owner->fde.size;
}

/* The index is of no more use, unless there is nothing else. */
static int read_all(struct sfg_cfi *cfi, struct sfg_error *err)
{
	int ret = sfg_cfi_read_records(&cfi->table, err);

	if (ret) {
		cfi->state = ret == -ENOMEM ? cfi->state : DAMAGED;
		return ret;
	}
	drop_unused(&cfi->table);
	if (find_pieces(cfi)) {
		sfg_cfi_free_table(&cfi->table);
		return sfg_fail(err, 0, "out of memory", -ENOMEM);
	}
	cfi->state = READ;
	return 0;
}

/* ENOENT: no FDE has this address; ENOMEM */
static int find_owner(struct sfg_cfi *cfi, uint64_t addr, struct owner *owner)
{
	const struct cfi_fde *fde;

	if (cfi->state != READ && find_by_index(cfi, addr, owner))
		return 0;
	if (cfi->state == INDEXED && read_all(cfi, NULL) == -ENOMEM)
		return -ENOMEM;
	fde = cfi->state == READ ? find_in_table(cfi, addr) : NULL;
	if (!fde)
		return -ENOENT;
	owner->fde = *fde;
	owner->cie = &cfi->table.cies[fde->cie];
	return 0;
}

/* A long program in many frames would take long. */
static bool spend(uint64_t *budget, const struct owner *owner,
		  unsigned int runs)
{
	const struct cfi_fde *fde = &owner->fde;
	const struct cfi_cie *cie = owner->cie;
	uint64_t bytes = (fde->program_end - fde->program) +
			 (cie->program_end - cie->program);

	bytes = 64 + runs * bytes;
	if (bytes > *budget)
		return false;
	*budget -= bytes;
	return true;
}

bool sfg_has_cfi(struct sfg_cfi *cfi, uint64_t addr)
{
	struct owner owner;

	return !find_owner(cfi, addr, &owner);
}

int sfg_step_cfi(struct sfg_cfi *cfi, uint64_t bias, struct sfg_frame *frame)
{
	uint64_t addr = looked_up(frame, bias);
	struct owner owner;
	struct stretch s;
	int ret = find_owner(cfi, addr, &owner);

	if (ret)
		return ret;
	if (!spend(&frame->budget, &owner, nr_runs(cfi->table.arch)))
		return -E2BIG;
	ret = run_to(cfi, &owner, addr, NO_REG, &s);
	return ret ? ret : step_state(cfi, &owner, &s.state, addr, frame);
}

static int make_row(const struct sfg_cfi *cfi, const struct cfi_state *state,
		    uint64_t addr, uint64_t *budget, struct sfjit_row *row)
{
	struct cfi_table table = cfi->table;
	unsigned int period = 0;
	enum sfg_reason reason;

	table.budget = *budget;
	reason = sfg_cfi_make_row(&table, state, addr, row, &period);
	*budget = table.budget;
	return reason ? -ENOTSUP : 0;
}

int sfg_find_cfi_row(struct sfg_cfi *cfi, uint64_t addr, uint64_t *budget,
		     struct sfjit_row *row)
{
	struct owner owner;
	struct stretch s;
	int ret = find_owner(cfi, addr, &owner);

	if (ret)
		return ret;
	if (owner.cie->fde_flags & SFJIT_FUNCTION_SIGNAL)
		return -ENOENT;
	if (!spend(budget, &owner, 1))
		return -E2BIG;
	ret = run_to(cfi, &owner, addr, NO_REG, &s);
	return ret ? ret : make_row(cfi, &s.state, addr, budget, row);
}

int sfg_open_cfi(const struct sfg_input *in, struct sfg_cfi **cfi,
		 struct sfg_error *err)
{
	struct sfg_cfi *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return sfg_fail(err, 0, "out of memory", -ENOMEM);
	ret = sfg_cfi_start_table(&new->table, in, err);
	if (!ret)
		sfg_cfi_open_index(&new->index, in, new->table.arch->big_endian);
	if (!ret && !new->index.nr)
		ret = read_all(new, err);
	if (ret)
		free(new);
	else
		*cfi = new;
	return ret;
}

void sfg_close_cfi(struct sfg_cfi *cfi)
{
	if (!cfi)
		return;
	sfg_cfi_free_table(&cfi->table);
	free(cfi->pieces);
	free(cfi);
}

size_t sfg_cfi_memory(const struct sfg_cfi *cfi)
{
	const struct cfi_table *t = &cfi->table;

	return sizeof(*cfi) + t->max_cies * sizeof(*t->cies) +
	       t->max_fdes * sizeof(*t->fdes) +
	       cfi->nr_pieces * sizeof(*cfi->pieces);
}
