// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Propagates facts from an instruction to the next and to the previous one.
 *
 * Forward facts say what is true; backward facts say what must be true for the
 * following code to return to its caller. If an instruction writes the return
 * address itself, nothing is known in either direction.
 */
#include "code_facts.h"

#define WORD	8

bool sfg_code_goes_on(const struct code_insn *insn)
{
	return insn->next == CODE_FALLS || insn->next == CODE_JUMPS_IF ||
	       insn->next == CODE_CALLS;
}

bool sfg_code_changes(const struct code_insn *insn, int reg)
{
	unsigned int i;

	for (i = 0; i < insn->nr_ops; i++)
		if (insn->ops[i].mask >> reg & 1 ||
		    (insn->ops[i].dst == reg && insn->ops[i].kind <= CODE_LOAD))
			return true;
	return false;
}

void sfg_code_number(const struct code_machine *m, const struct code_insn *insn,
		     int64_t *number)
{
	if (insn->number >= 0)
		*number = insn->number;
	else if (sfg_code_changes(insn, m->number))
		*number = -1;
}

static bool is_known(const struct code_facts *f, int reg)
{
	return reg >= 0 && f->cfa & 1u << reg;
}

static void set_cfa(struct code_facts *f, int reg, int64_t off)
{
	f->cfa &= ~(1u << reg);
	if (off < INT32_MIN / 2 || off > INT32_MAX / 2)
		return;
	f->cfa |= 1u << reg;
	f->off[reg] = off;
}

static void die(struct code_facts *f)
{
	f->dead = true;
	f->cfa = f->fp = 0;
	f->fp_at = 0;
	f->slot_base = CODE_NO_REG;
}

static void drop_slot(struct code_facts *f)
{
	f->slot_base = CODE_NO_REG;
}

static void drop_reg(struct code_facts *f, int reg)
{
	f->cfa &= ~(1u << reg);
	f->fp &= ~(1u << reg);
	if (f->slot_base == reg)
		drop_slot(f);
}

static void drop_regs(struct code_facts *f, uint32_t mask)
{
	int i;

	for (i = 0; mask; i++, mask >>= 1)
		if (mask & 1)
			drop_reg(f, i);
}

/* Takes offsets from the CFA. */
static bool overlap(int64_t a, int64_t b)
{
	return a - b < WORD && b - a < WORD;
}

void sfg_facts_at_entry(struct code_facts *f, const struct code_machine *m)
{
	memset(f, 0, sizeof(*f));
	f->cfa = 1u << m->sp;
	f->off[m->sp] = WORD;
	f->fp = 1u << m->fp;
	f->slot_base = CODE_NO_REG;
	f->level = CODE_STRONG;
}

/* Sets *at to the word's offset from the CFA. */
static bool place_of(const struct code_facts *f, int base, int32_t disp,
		     int64_t *at)
{
	if (!is_known(f, base))
		return false;
	*at = (int64_t)disp - f->off[base];
	return true;
}

/* The return address is right below the CFA. */
static bool hits_return_address(const struct code_facts *f, int base,
				int32_t disp)
{
	int64_t at;

	return place_of(f, base, disp, &at) && overlap(at, -WORD);
}

static bool is_slot(const struct code_facts *f, int base, int32_t disp)
{
	return base >= 0 && f->slot_base == base && f->slot_at == disp;
}

static bool hits_slot(const struct code_facts *f, int base, int32_t disp)
{
	return base >= 0 && f->slot_base == base && overlap(f->slot_at, disp);
}

/* If the stack pointer is above the return address, the frame is gone. */
static void check_sp(struct code_facts *f, const struct code_machine *m)
{
	if (is_known(f, m->sp) && f->off[m->sp] < WORD)
		die(f);
}

/* ---- Forward ----------------------------------------------------------- */

static void move_slot(struct code_facts *f, int dst, int src, int64_t by,
		      const struct code_machine *m)
{
	if (f->slot_base != dst)
		return;
	f->slot_at += by;
	if (dst != src || by > INT32_MAX / 2 || by < INT32_MIN / 2 ||
	    f->slot_at > INT32_MAX / 2 || f->slot_at < INT32_MIN / 2 ||
	    (dst == m->sp && f->slot_at < 0))
		drop_slot(f);
}

/* Forgets words below the stack pointer. */
static void drop_below(struct code_facts *f, const struct code_machine *m)
{
	if (is_known(f, m->sp) && f->fp_at < -f->off[m->sp])
		f->fp_at = 0;
}

static void forward_set(struct code_facts *f, const struct code_op *op,
			const struct code_machine *m)
{
	bool known = is_known(f, op->src);
	int64_t off = known ? (int64_t)f->off[op->src] - op->imm : 0;
	bool fp = f->fp >> op->src & 1 && !op->imm;

	move_slot(f, op->dst, op->src, -(int64_t)op->imm, m);
	f->cfa &= ~(1u << op->dst);
	f->fp &= ~(1u << op->dst);
	if (known)
		set_cfa(f, op->dst, off);
	if (fp)
		f->fp |= 1u << op->dst;
	if (op->dst == m->sp)
		drop_below(f, m);
}

static void forward_load(struct code_facts *f, const struct code_op *op,
			 const struct code_machine *m)
{
	bool cfa = is_slot(f, op->src, op->imm);
	int64_t add = f->slot_add, at;
	bool fp = f->fp_at && place_of(f, op->src, op->imm, &at) &&
		  at == f->fp_at;

	drop_reg(f, op->dst);
	if (cfa)
		set_cfa(f, op->dst, add);
	if (fp)
		f->fp |= 1u << op->dst;
	if (op->dst == m->sp)
		drop_below(f, m);
}

static bool tells_fp(const struct code_facts *f, int reg)
{
	return reg >= 0 && f->fp >> reg & 1;
}

/* Tracks a slot only where the stack pointer does not give the CFA. */
static void forward_store(struct code_facts *f, const struct code_op *op,
			  const struct code_machine *m)
{
	int64_t at;

	if (hits_return_address(f, op->dst, op->imm)) {
		die(f);
		return;
	}
	if (hits_slot(f, op->dst, op->imm))
		drop_slot(f);
	if (is_known(f, op->src) && f->slot_base == CODE_NO_REG &&
	    (op->dst == m->sp || op->dst == m->fp)) {
		f->slot_base = op->dst;
		f->slot_at = op->imm;
		f->slot_add = f->off[op->src];
	}
	if (!place_of(f, op->dst, op->imm, &at))
		return;
	if (f->fp_at && overlap(at, f->fp_at)) {
		if (at != f->fp_at || !tells_fp(f, op->src))
			f->fp_at = 0;
	} else if (!f->fp_at && tells_fp(f, op->src) && at < -WORD) {
		f->fp_at = at;
	}
}

static void forward(struct code_facts *f, const struct code_op *op,
		    const struct code_machine *m)
{
	switch (op->kind) {
	case CODE_SET:
		forward_set(f, op, m);
		break;
	case CODE_LOAD:
		if (hits_return_address(f, op->src, op->imm))
			die(f);
		else
			forward_load(f, op, m);
		break;
	case CODE_STORE:
		forward_store(f, op, m);
		break;
	case CODE_TOUCH:
		if (hits_return_address(f, op->dst, op->imm))
			die(f);
		break;
	case CODE_CALL:
	case CODE_CLOBBER:
		drop_regs(f, op->mask);
		break;
	case CODE_LOSE:
		die(f);
		break;
	}
	check_sp(f, m);
}

void sfg_facts_forward(struct code_facts *f, const struct code_machine *m,
		       const struct code_insn *insn)
{
	unsigned int i;

	for (i = 0; i < insn->nr_ops && !f->dead; i++)
		forward(f, &insn->ops[i], m);
}

/* ---- Backward ---------------------------------------------------------- */

static void need_cfa(struct code_facts *f, int reg, int64_t off)
{
	if (is_known(f, reg) && f->off[reg] != off)
		die(f);
	else
		set_cfa(f, reg, off);
}

static void backward_slot(struct code_facts *f, const struct code_op *op)
{
	int64_t at = (int64_t)f->slot_at + op->imm;

	if (f->slot_base != op->dst)
		return;
	f->slot_base = op->src;
	f->slot_at = at;
	if (at > INT32_MAX / 2 || at < INT32_MIN / 2)
		drop_slot(f);
}

static void backward_set(struct code_facts *f, const struct code_op *op)
{
	bool known = is_known(f, op->dst), fp = tells_fp(f, op->dst);
	int64_t off = known ? (int64_t)f->off[op->dst] + op->imm : 0;

	backward_slot(f, op);
	f->cfa &= ~(1u << op->dst);
	f->fp &= ~(1u << op->dst);
	if (known)
		need_cfa(f, op->src, off);
	if (fp && !op->imm)
		f->fp |= 1u << op->src;
}

/* If the caller's frame pointer is loaded from a word, it was saved there. */
static void backward_load(struct code_facts *f, const struct code_op *op,
			  const struct code_machine *m)
{
	bool known = is_known(f, op->dst), fp = tells_fp(f, op->dst);
	int32_t off = f->off[op->dst];
	int64_t at;

	drop_reg(f, op->dst);
	if (known && (op->src == m->sp || op->src == m->fp)) {
		f->slot_base = op->src;
		f->slot_at = op->imm;
		f->slot_add = off;
	}
	if (!fp)
		return;
	if (!place_of(f, op->src, op->imm, &at) || at >= -WORD ||
	    at < INT32_MIN)
		return;
	if (f->fp_at && f->fp_at != at)
		f->fp_clash = true;
	f->fp_at = at;
}

static void backward_store(struct code_facts *f, const struct code_op *op,
			   const struct code_machine *m)
{
	int64_t at, add = f->slot_add;

	if (hits_return_address(f, op->dst, op->imm)) {
		die(f);
		return;
	}
	if (!place_of(f, op->dst, op->imm, &at)) {
		/* this store may be the one that saves it */
		if (f->fp_at && op->src == m->fp)
			f->fp_clash = true;
	} else if (f->fp_at && overlap(at, f->fp_at)) {
		if (at == f->fp_at && op->src >= 0)
			f->fp |= 1u << op->src;
		else
			f->fp_clash = true;
		f->fp_at = 0;
	}
	if (!hits_slot(f, op->dst, op->imm))
		return;
	if (is_slot(f, op->dst, op->imm) && op->src >= 0)
		need_cfa(f, op->src, add);
	drop_slot(f);
}

static void backward(struct code_facts *f, const struct code_op *op,
		     const struct code_machine *m)
{
	switch (op->kind) {
	case CODE_SET:
		backward_set(f, op);
		break;
	case CODE_LOAD:
		if (hits_return_address(f, op->src, op->imm))
			die(f);
		else
			backward_load(f, op, m);
		break;
	case CODE_STORE:
		backward_store(f, op, m);
		break;
	case CODE_TOUCH:
		if (hits_return_address(f, op->dst, op->imm))
			die(f);
		break;
	case CODE_CALL:
	case CODE_CLOBBER:
		drop_regs(f, op->mask);
		break;
	case CODE_LOSE:
		/* facts needed after it do not hold before it */
		*f = (struct code_facts){ .slot_base = CODE_NO_REG };
		break;
	}
	check_sp(f, m);
}

void sfg_facts_backward(struct code_facts *f, const struct code_machine *m,
			const struct code_insn *insn)
{
	unsigned int i;

	for (i = insn->nr_ops; i-- > 0 && !f->dead; )
		backward(f, &insn->ops[i], m);
}

/* ---- Where paths meet -------------------------------------------------- */

static bool same_off(const struct code_facts *a, const struct code_facts *b,
		     int reg)
{
	return is_known(a, reg) && is_known(b, reg) &&
	       a->off[reg] == b->off[reg];
}

static bool contradicts(const struct code_facts *a, const struct code_facts *b,
			int reg)
{
	return is_known(a, reg) && is_known(b, reg) &&
	       a->off[reg] != b->off[reg];
}

static bool same_slot(const struct code_facts *a, const struct code_facts *b)
{
	return a->slot_base == b->slot_base && a->slot_at == b->slot_at &&
	       a->slot_add == b->slot_add;
}

/* Forward: keeps what holds on every path. Strong facts replace weak ones. */
bool sfg_facts_meet(struct code_facts *to, const struct code_facts *from,
		    const struct code_machine *m)
{
	struct code_facts old = *to;
	int i;

	if (to->level == CODE_OPEN) {
		*to = *from;
		return from->level != CODE_OPEN;
	}
	if (from->level == CODE_OPEN || to->dead)
		return false;
	if (from->dead || contradicts(to, from, m->sp)) {
		die(to);
		return true;
	}
	if (from->level > to->level)
		to->level = from->level;
	for (i = 0; i < CODE_NR_REGS; i++)
		if (is_known(to, i) && !same_off(to, from, i))
			to->cfa &= ~(1u << i);
	to->fp &= from->fp;
	if (to->fp_at != from->fp_at)
		to->fp_at = 0;
	if (to->slot_base != CODE_NO_REG && !same_slot(to, from))
		drop_slot(to);
	return old.cfa != to->cfa || old.fp != to->fp ||
	       old.fp_at != to->fp_at || old.slot_base != to->slot_base ||
	       old.level != to->level;
}

static void unite_cfas(struct code_facts *to, const struct code_facts *from)
{
	uint32_t more = from->cfa & ~to->cfa & ~to->clash;
	int i;

	to->clash |= from->clash;
	for (i = 0; i < CODE_NR_REGS; i++) {
		if (contradicts(to, from, i))
			to->clash |= 1u << i;
		if (more & 1u << i)
			to->off[i] = from->off[i];
	}
	to->cfa = (to->cfa | more) & ~to->clash;
}

/* Backward: collects what any path needs. */
bool sfg_facts_unite(struct code_facts *to, const struct code_facts *from)
{
	struct code_facts old = *to;

	if (from->level == CODE_OPEN)
		return false;
	if (to->level == CODE_OPEN) {
		*to = *from;
		return true;
	}
	if (from->level < to->level)
		to->level = from->level;
	if (to->dead)
		return old.level != to->level;
	if (from->dead) {
		die(to);
		return true;
	}
	unite_cfas(to, from);
	to->fp |= from->fp;
	if (from->fp_at && to->fp_at && from->fp_at != to->fp_at)
		to->fp_clash = true;
	to->fp_clash |= from->fp_clash;
	if (!to->fp_at)
		to->fp_at = from->fp_at;
	to->slot_clash |= from->slot_clash ||
			  (to->slot_base != CODE_NO_REG &&
			   from->slot_base != CODE_NO_REG &&
			   !same_slot(to, from));
	if (to->slot_clash) {
		drop_slot(to);
	} else if (to->slot_base == CODE_NO_REG) {
		to->slot_base = from->slot_base;
		to->slot_at = from->slot_at;
		to->slot_add = from->slot_add;
	}
	return old.cfa != to->cfa || old.clash != to->clash ||
	       old.fp != to->fp || old.fp_at != to->fp_at ||
	       old.fp_clash != to->fp_clash || old.level != to->level ||
	       old.slot_base != to->slot_base ||
	       old.slot_clash != to->slot_clash;
}

/* ---- Rows -------------------------------------------------------------- */

static bool is_of_use(const struct code_facts *f)
{
	return f->level != CODE_OPEN && !f->dead;
}

/* Whether both have a word in common and thus agree. */
static bool share_cfa(const struct code_facts *a, const struct code_facts *b)
{
	return a->cfa & b->cfa ||
	       (a->slot_base != CODE_NO_REG && same_slot(a, b));
}

static bool agree(const struct code_facts *a, const struct code_facts *b)
{
	int i;

	for (i = 0; i < CODE_NR_REGS; i++)
		if (contradicts(a, b, i))
			return false;
	return !(a->cfa & b->clash) &&
	       !(a->fp_at && b->fp_at && a->fp_at != b->fp_at);
}

/*
 * Only the path from the entry tells where the caller's frame pointer is: a
 * function may leave another value in the register, and a saved one may already
 * be restored.
 */
static void unite_places(struct code_facts *facts,
			 const struct code_facts *backward,
			 const struct code_machine *m)
{
	struct code_facts places = *backward;

	if (facts->level != CODE_STRONG && backward->level == CODE_STRONG &&
	    tells_fp(backward, m->fp))
		facts->fp_at = 0;
	places.fp &= facts->fp_at ? 1u << m->fp : 0;
	places.fp_at = facts->fp_at;
	places.fp_clash = false;
	sfg_facts_unite(facts, &places);
}

/* A place below the stack pointer is not written yet, or no longer valid. */
static bool is_alive(const struct code_facts *f, const struct code_machine *m)
{
	return !f->fp_at || !is_known(f, m->sp) || f->fp_at >= -f->off[m->sp];
}

/*
 * Facts are certain on a path from the entry without calls, and before returns
 * if all paths lead there. Otherwise both directions must agree: a call that
 * never returns may be followed by another function or by a part entered from
 * elsewhere, and compilers turn impossible cases into a jump to anywhere.
 */
bool sfg_facts_settle(struct code_facts *facts,
		      const struct code_facts *forward,
		      const struct code_facts *backward,
		      const struct code_machine *m)
{
	bool ahead = is_of_use(forward), back = is_of_use(backward);

	if (forward->dead || backward->dead)
		return false;
	if (ahead && back && !share_cfa(forward, backward)) {
		if (forward->level == CODE_STRONG)
			back = false;
		else
			ahead = false;
	}
	if (ahead && back ? !agree(forward, backward) :
	    (ahead ? forward : backward)->level != CODE_STRONG)
		return false;
	*facts = ahead ? *forward : *backward;
	if (ahead && back)
		unite_places(facts, backward, m);
	else if (back)
		facts->fp &= 1u << m->fp;
	return !facts->fp_clash && !facts->slot_clash && is_alive(facts, m);
}

static bool find_cfa(const struct code_facts *f, const struct code_machine *m,
		     struct sfjit_rule *cfa)
{
	const int regs[] = { m->fp, m->sp };
	int i;

	for (i = 0; i < 2; i++)
		if (is_known(f, regs[i]) && f->off[regs[i]] % WORD == 0) {
			*cfa = sfjit_rule_reg(regs[i], f->off[regs[i]]);
			return true;
		}
	if (f->slot_base != CODE_NO_REG) {
		*cfa = sfjit_rule_reg(f->slot_base, f->slot_at);
		cfa->deref = 1;
		cfa->addend = f->slot_add;
		return true;
	}
	for (i = 0; i < CODE_NR_REGS; i++)
		if (is_known(f, i)) {
			*cfa = sfjit_rule_reg(i, f->off[i]);
			return true;
		}
	return false;
}

static bool find_fp(const struct code_facts *f, const struct code_machine *m,
		    struct sfjit_rule *fp)
{
	int i;

	*fp = sfjit_rule_none();
	if (f->fp_at)
		*fp = sfjit_rule_saved(f->fp_at);
	if (f->fp_at || f->fp >> m->fp & 1)
		return true;
	for (i = 0; i < CODE_NR_REGS && !(f->fp >> i & 1); i++)
		;
	*fp = sfjit_rule_reg(i, 0);
	return i < CODE_NR_REGS;
}

bool sfg_facts_row(const struct code_facts *facts,
		   const struct code_machine *m, struct sfjit_row *row)
{
	memset(row, 0, sizeof(*row));
	return find_cfa(facts, m, &row->cfa) && find_fp(facts, m, &row->fp);
}
