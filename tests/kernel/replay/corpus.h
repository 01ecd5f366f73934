/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A corpus of samples, a text. Lines, in this order:
 *
 *	process NAME
 *		a new address space, without windows
 *	base LETTER ADDRESS
 *		LETTER, g to z, stands for it below
 *	window START END SECTION fixed BYTES
 *		a section, of SFrame V3 with addends
 *	f DEPTH IP [ADDRESS[=VALUE]]...
 *		a frame: 0 is a chain's last one. The words read to get from
 *		there to the frame of DEPTH - 1; without VALUE it is its IP.
 *		Frames of lower depths stay
 *	s SP BP [REGISTER=VALUE]...
 *		a sample at the last frame: its chain are all frames from
 *		there to 0
 *	d SP BP [REGISTER=VALUE]...
 *		the same with a deferred chain
 *	stack ADDRESS BYTES
 *		for the next sample, as recorded
 *
 * Numbers are hexadecimal, addresses may begin with the LETTER of a base.
 */
#ifndef REPLAY_CORPUS_H
#define REPLAY_CORPUS_H

#include "task.h"

struct sample {
	unsigned long regs[TASK_NR_REGS];
	struct task_chain chain;	/* as the kernel found it */
	bool deferred;
};

struct corpus_calls {
	void (*process)(const char *name);
	/* The task has the windows and the memory. */
	void (*sample)(const struct sample *sample);
};

/* Ends the program if the file is not as it should be. */
void corpus_read(const char *path, const struct corpus_calls *calls);

/* Names of registers, by enum task_reg. */
extern const char *const reg_names[TASK_NR_REGS];

#endif
