/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Registers by DWARF number; include after the shim. */
#ifndef FUZZ_REGISTERS_H
#define FUZZ_REGISTERS_H

/* The registers, then those for floating point, which the task has. */
static inline unsigned long *machine_reg(struct pt_regs *r, unsigned int nr)
{
	static const unsigned char fprs[16] = {
		0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15,
	};

	return nr < 16 ? &r->gprs[nr] :
	       nr < 32 ? &shim_task.thread.ufpu.vxrs[fprs[nr - 16]].high : NULL;
}

#endif
