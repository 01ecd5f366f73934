/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Registers by DWARF number; include after the shim. */
#ifndef FUZZ_REGISTERS_H
#define FUZZ_REGISTERS_H

/* DWARF's order of the registers; NULL for those that there are not. */
static inline unsigned long *machine_reg(struct pt_regs *r, unsigned int nr)
{
	unsigned long *const regs[16] = {
		&r->ax, &r->dx, &r->cx, &r->bx, &r->si, &r->di, &r->bp,
		&r->sp, &r->r8, &r->r9, &r->r10, &r->r11, &r->r12, &r->r13,
		&r->r14, &r->r15,
	};

	return nr < 16 ? regs[nr] : NULL;
}

#endif
