/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Registers by DWARF number; include after the shim. */
#ifndef FUZZ_REGISTERS_H
#define FUZZ_REGISTERS_H

static inline unsigned long *machine_reg(struct pt_regs *r, unsigned int nr)
{
	return nr < 31 ? &r->regs[nr] : nr == 31 ? &r->sp : NULL;
}

#endif
