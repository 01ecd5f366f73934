// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * libdw-rows ELF SECTION FORMAT: every code byte of the file that has CFI. Of the
 * format packed, SECTION is a packed table.
 *
 * libdw's rules and the section's row are both worked out for the same made-up
 * registers and memory, at each address; CFA, return address, frame pointer
 * and stack pointer have to come out equal. Where the section says nothing,
 * libdw's rule has to be one that SFrame has no words for. libdw does not say
 * whether a return address of AArch64 is signed. A packed table also says where
 * rbx is; if it does not, its rules have no words for what libdw says.
 */
#include <dwarf.h>
#include <errno.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle-section.h"

#define STACK	64

/* DWARF numbers by the psABIs, and what callers have in the stack pointer. */
struct machine {
	unsigned int e_machine;
	int ra, fp, sp, third;
	int64_t sp_bias;	/* the caller's is CFA + this */
	bool pushes_ra;		/* a call, right below the CFA */
	bool sp_is_told;	/* else it is that by the psABI, wherever saved */
};

static const struct machine machines[] = {
	{ EM_X86_64, 16, 6, 7, 3, 0, true, true },
	{ EM_AARCH64, 30, 29, 31, -1, 0, false, true },
	{ EM_S390, 14, 11, 15, -1, -160, false, false },
	{ EM_RISCV, 1, 8, 2, -1, 0, false, true },
	{ EM_PPC64, 65, 31, 1, -1, 0, false, true },
};

static const struct machine *machine;

struct values {
	bool outermost, signal, known;
	bool fp_undefined, third_known;
	uint64_t cfa, ra, fp, sp, third;
};

/* Whether the section may have them. */
static bool addends;

struct totals {
	uint64_t bytes, covered, beyond, signal, rows;
};

static uint64_t mix(uint64_t v)
{
	v ^= v >> 31;
	v *= 0x7fb5d329728ea185;
	v ^= v >> 27;
	v *= 0x81dadef4bc2dd44d;
	return v ^ v >> 33;
}

/* Registers look like stack addresses, memory like anything. */
static uint64_t reg_value(unsigned int reg, uint64_t pc)
{
	if (machine->pushes_ra && (int)reg == machine->ra)
		return pc;
	return 0x7ff000000000 + (mix(reg + 1) & 0xfffff8);
}

static uint64_t load(uint64_t addr)
{
	return mix(addr);
}

/* An evaluator of its own for what libdw hands out. */
struct stack {
	uint64_t v[STACK];
	int n;
	bool bad, is_value, is_reg;
};

static void push(struct stack *s, uint64_t v)
{
	if (s->n < STACK)
		s->v[s->n++] = v;
	else
		s->bad = true;
}

static uint64_t pop(struct stack *s)
{
	if (s->n)
		return s->v[--s->n];
	s->bad = true;
	return 0;
}

static bool binary(struct stack *s, unsigned int atom)
{
	int64_t b = pop(s), a = pop(s);

	switch (atom) {
	case DW_OP_plus: push(s, (uint64_t)a + b); return true;
	case DW_OP_minus: push(s, (uint64_t)a - b); return true;
	case DW_OP_mul: push(s, (uint64_t)a * b); return true;
	case DW_OP_and: push(s, a & b); return true;
	case DW_OP_or: push(s, a | b); return true;
	case DW_OP_shl: push(s, (uint64_t)a << b); return true;
	case DW_OP_ge: push(s, a >= b); return true;
	case DW_OP_lt: push(s, a < b); return true;
	case DW_OP_gt: push(s, a > b); return true;
	case DW_OP_le: push(s, a <= b); return true;
	case DW_OP_eq: push(s, a == b); return true;
	case DW_OP_ne: push(s, a != b); return true;
	}
	push(s, 0);
	return false;
}

static void run_op(struct stack *s, const Dwarf_Op *op, uint64_t cfa,
		   uint64_t pc)
{
	unsigned int atom = op->atom;
	uint64_t v;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(s, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push(s, reg_value(atom - DW_OP_breg0, pc) + op->number);
	} else if (atom == DW_OP_bregx) {
		push(s, reg_value(op->number, pc) + op->number2);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		push(s, reg_value(atom - DW_OP_reg0, pc));
		s->is_reg = true;
	} else if (atom == DW_OP_regx) {
		push(s, reg_value(op->number, pc));
		s->is_reg = true;
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		push(s, op->number);
	} else if (atom == DW_OP_plus_uconst) {
		push(s, pop(s) + op->number);
	} else if (atom == DW_OP_deref) {
		push(s, load(pop(s)));
	} else if (atom == DW_OP_call_frame_cfa) {
		push(s, cfa);
	} else if (atom == DW_OP_stack_value) {
		s->is_value = true;
	} else if (atom == DW_OP_dup) {
		v = pop(s);
		push(s, v);
		push(s, v);
	} else if (!binary(s, atom)) {
		s->bad = true;
	}
}

static bool run_ops(struct stack *s, const Dwarf_Op *ops, size_t n,
		    uint64_t cfa, uint64_t pc)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < n; i++)
		run_op(s, &ops[i], cfa, pc);
	return !s->bad && s->n;
}

static uint64_t top(const struct stack *s)
{
	return s->v[s->n - 1];
}

/* True: *value is the register's; false: undefined or not understood. */
static bool libdw_register(Dwarf_Frame *frame, int reg, uint64_t cfa,
			   uint64_t pc, uint64_t *value, bool *undefined)
{
	Dwarf_Op mem[3], *ops;
	struct stack s;
	size_t n;

	*undefined = false;
	if (dwarf_frame_register(frame, reg, mem, &ops, &n))
		return false;
	if (!n) {
		*undefined = ops == mem;
		*value = reg_value(reg, pc);
		return ops == NULL;
	}
	if (!run_ops(&s, ops, n, cfa, pc))
		return false;
	*value = s.is_value || s.is_reg ? top(&s) : load(top(&s));
	return true;
}

static bool is_breg(unsigned int atom)
{
	return atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
}

/*
 * A CFA that is loaded and then moved: version 3 can only load it. With addends
 * it can do so from one register plus a constant.
 */
static bool cfa_is_beyond(const Dwarf_Op *ops, size_t n)
{
	unsigned int regs = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		regs += is_breg(ops[i].atom);
		if (ops[i].atom != DW_OP_deref)
			continue;
		if (addends ? regs > 1 : i + 1 < n)
			return true;
	}
	return n == 0;
}

struct libdw_row {
	struct values v;
	bool beyond;
};

static void libdw_values(Dwarf_Frame *frame, uint64_t pc, bool signal,
			 struct libdw_row *row)
{
	Dwarf_Op *ops;
	struct stack s;
	bool undefined;
	size_t n;

	memset(row, 0, sizeof(*row));
	row->v.signal = signal;
	if (!libdw_register(frame, machine->ra, 0, pc, &row->v.ra,
			    &undefined) &&
	    undefined) {
		row->v.outermost = true;
		return;
	}
	if (dwarf_frame_cfa(frame, &ops, &n) ||
	    !run_ops(&s, ops, n, 0, pc)) {
		row->beyond = true;
		return;
	}
	row->v.cfa = top(&s);
	row->beyond = cfa_is_beyond(ops, n);
	row->v.known =
		libdw_register(frame, machine->ra, row->v.cfa, pc, &row->v.ra,
			       &undefined) &&
		libdw_register(frame, machine->sp, row->v.cfa, pc, &row->v.sp,
			       &undefined);
	if (!libdw_register(frame, machine->fp, row->v.cfa, pc, &row->v.fp,
			    &row->v.fp_undefined))
		row->beyond = true;
	/* libdw's defaults of the ABI have rax where rbx belongs: it is kept. */
	row->v.third_known = machine->third >= 0 &&
		(libdw_register(frame, machine->third, row->v.cfa, pc,
				&row->v.third, &undefined) || undefined);
	if (!machine->sp_is_told)
		row->v.sp = row->v.cfa + machine->sp_bias;
	row->beyond |= !row->v.known ||
		       row->v.sp != row->v.cfa + machine->sp_bias;
}

static uint64_t rule_value(const struct sfjit_rule *rule, uint64_t cfa,
			   uint64_t pc)
{
	uint64_t v = rule->base == SFJIT_BASE_CFA ? cfa :
		     reg_value(rule->reg, pc);

	v += rule->offset;
	return rule->deref ? load(v) + rule->addend : v;
}

static void sframe_values(const struct sfjit_row *row, uint64_t pc,
			  struct values *v)
{
	memset(v, 0, sizeof(*v));
	if (row->flags & SFJIT_ROW_OUTERMOST) {
		v->outermost = true;
		return;
	}
	v->known = true;
	v->cfa = rule_value(&row->cfa, 0, pc);
	v->sp = v->cfa + machine->sp_bias;
	v->ra = row->ra.base ? rule_value(&row->ra, v->cfa, pc) :
		machine->pushes_ra ? load(v->cfa - 8) :
		reg_value(machine->ra, pc);
	v->fp = row->fp.base ? rule_value(&row->fp, v->cfa, pc) :
		reg_value(machine->fp, pc);
}

static bool is_slot(const struct sfjit_rule *rule)
{
	return !rule->base || (rule->base == SFJIT_BASE_CFA && rule->deref);
}

/* Could a row have said this of the third register? */
static bool third_has_words(const struct sfjit_row *row, const struct values *v,
			    uint64_t pc)
{
	bool has = v->third == reg_value(machine->third, pc);
	unsigned int words;

	for (words = 2; words <= SFRAME_PACKED_THIRD_MAX; words++)
		has |= v->third == load(v->cfa - 8 * words);
	return has && v->third_known && !row->cfa.deref && is_slot(&row->ra) &&
	       is_slot(&row->fp) && (row->cfa.reg == machine->sp ||
				     row->cfa.reg == machine->fp);
}

static bool same_third(const struct sfjit_row *row, const struct values *v,
		       uint64_t pc)
{
	uint32_t where = row->flags & SFJIT_ROW_RBX;

	if (!where)
		return row->flags & SFJIT_ROW_OUTERMOST ||
		       !third_has_words(row, v, pc);
	return v->third_known &&
	       v->third == (where == SFJIT_ROW_RBX_KEPT ?
			    reg_value(machine->third, pc) :
			    load(v->cfa - where));
}

static bool equal(const struct values *a, const struct values *b)
{
	if (a->outermost || b->outermost)
		return a->outermost == b->outermost;
	return a->known && b->known && a->cfa == b->cfa && a->ra == b->ra &&
	       a->fp == b->fp && a->sp == b->sp;
}

static int report(uint64_t pc, const char *what)
{
	printf("0x%" PRIx64 ": %s\n", pc, what);
	return 1;
}

/* Without a section, in the table. */
static struct sfg_packed table;

static int find_row(const struct sfg_section *s, uint64_t pc,
		    struct sfjit_function *fde, struct sfjit_row *row)
{
	return s->data ? sfg_find_row(s, pc, fde, row, NULL) :
			 sfg_find_packed_row(&table, pc, fde, row, NULL);
}

static int compare_pc(const struct sfg_section *s, Dwarf_Frame *frame,
		      uint64_t pc, bool signal, bool other_column,
		      struct totals *t)
{
	struct libdw_row theirs;
	struct sfjit_function fde = { 0 };
	struct sfjit_row row;
	struct values ours;
	int ret = find_row(s, pc, &fde, &row);

	t->bytes++;
	libdw_values(frame, pc, signal, &theirs);
	if (signal) {
		t->signal++;
		if (ret == -ENOENT && fde.flags & SFJIT_FUNCTION_SIGNAL)
			return 0;
		return report(pc, "libdw has a signal frame here");
	}
	if (ret) {
		t->beyond++;
		if (other_column || (theirs.beyond && !theirs.v.outermost))
			return 0;
		return report(pc, "not covered, but libdw's rule has a row");
	}
	t->covered++;
	sframe_values(&row, pc, &ours);
	if (fde.flags & SFJIT_FUNCTION_SIGNAL)
		return report(pc, "signal frame, but not for libdw");
	if (!equal(&ours, &theirs.v))
		return report(pc, "row and libdw's rules differ");
	if (!s->data && machine->third >= 0 && !same_third(&row, &theirs.v, pc))
		return report(pc, "row and libdw differ about rbx");
	return 0;
}

static int compare_fde(const struct sfg_section *s, Dwarf_CFI *cfi,
		       uint64_t start, uint64_t end, struct totals *t)
{
	Dwarf_Addr row_start, row_end;
	Dwarf_Frame *frame;
	uint64_t pc = start;
	bool signal;
	int bad = 0, column;

	while (pc < end && bad < 10) {
		if (dwarf_cfi_addrframe(cfi, pc, &frame))
			return report(pc, dwarf_errmsg(-1));
		column = dwarf_frame_info(frame, &row_start, &row_end, &signal);
		if (row_end > end || row_end <= pc)
			row_end = end;
		t->rows++;
		for (; pc < row_end && bad < 10; pc++)
			bad += compare_pc(s, frame, pc, signal,
					  column != machine->ra, t);
		free(frame);
	}
	return bad;
}

/* Of the file's byte order. */
static uint32_t get_u32(const unsigned char *ident, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return ident[EI_DATA] == ELFDATA2MSB ? be32toh(v) : le32toh(v);
}

/* Start and size, both of 4 bytes, the start relative to itself. */
static void fde_range(const unsigned char *ident, const Dwarf_FDE *fde,
		      const GElf_Shdr *shdr, const Elf_Data *data,
		      uint64_t *start, uint64_t *end)
{
	size_t at = fde->start - (const uint8_t *)data->d_buf;

	*start = shdr->sh_addr + at + (int32_t)get_u32(ident, fde->start);
	*end = *start + get_u32(ident, fde->start + 4);
}

static int compare_file(const struct sfg_section *s, Elf *elf, Elf_Scn *scn,
			struct totals *t)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	Elf_Data *data = elf_getdata(scn, NULL);
	unsigned char ident[EI_NIDENT];
	Dwarf_Off off = 0, next;
	Dwarf_CFI_Entry entry;
	uint64_t start, end;
	GElf_Shdr shdr;
	int ret, bad = 0;

	memcpy(ident, elf_getident(elf, NULL), EI_NIDENT);
	if (!cfi || !data || !gelf_getshdr(scn, &shdr))
		return report(0, "libdw finds no CFI");
	for (; (ret = dwarf_next_cfi(ident, data, true, off, &next, &entry)) ==
	     0 && bad < 20; off = next) {
		if (dwarf_cfi_cie_p(&entry))
			continue;
		fde_range(ident, &entry.fde, &shdr, data, &start, &end);
		bad += compare_fde(s, cfi, start, end, t);
	}
	return ret < 0 ? report(off, dwarf_errmsg(-1)) : bad;
}

static const struct machine *find_machine(Elf *elf)
{
	GElf_Ehdr ehdr;
	size_t i;

	if (!gelf_getehdr(elf, &ehdr))
		return NULL;
	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].e_machine == ehdr.e_machine)
			return &machines[i];
	return NULL;
}

static Elf_Scn *find_eh_frame(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t strings;

	elf_getshdrstrndx(elf, &strings);
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    !strcmp(elf_strptr(elf, strings, shdr.sh_name),
			    ".eh_frame"))
			return scn;
	return NULL;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	struct sfg_section s = { 0 };
	Elf *elf;
	int fd, bad;

	if (argc != 4)
		return 2;
	addends = strcmp(argv[3], "v3");
	if (strcmp(argv[3], "packed") ? !load_section(argv[2], &s) :
					!load_table(argv[2], &table))
		return report(0, "section cannot be opened");
	elf_version(EV_CURRENT);
	fd = open(argv[1], O_RDONLY);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !find_eh_frame(elf))
		return report(0, "no .eh_frame");
	machine = find_machine(elf);
	if (!machine)
		return report(0, "no machine that is known here");
	bad = compare_file(&s, elf, find_eh_frame(elf), &t);
	printf("%" PRIu64 " bytes, %" PRIu64 " equal, %" PRIu64
	       " signal, %" PRIu64 " beyond the format, %" PRIu64
	       " libdw rows\n", t.bytes, t.covered, t.signal, t.beyond,
	       t.rows);
	elf_end(elf);
	close(fd);
	free((void *)s.data);
	free((void *)table.data);
	return bad != 0;
}
