/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A task as a sample found it, and the kernel's walks of its stack. Only memory
 * that was added exists.
 */
#ifndef REPLAY_TASK_H
#define REPLAY_TASK_H

#include <stdbool.h>

#define TASK_MAX_CHAIN		510	/* UNWIND_MAX_ENTRIES */
#define TASK_MAX_WINDOWS	64

/* In the order of struct pt_regs. */
enum task_reg {
	TASK_R15, TASK_R14, TASK_R13, TASK_R12, TASK_BP, TASK_BX, TASK_R11,
	TASK_R10, TASK_R9, TASK_R8, TASK_AX, TASK_CX, TASK_DX, TASK_SI,
	TASK_DI, TASK_ORIG_AX, TASK_IP, TASK_CS, TASK_FLAGS, TASK_SP, TASK_SS,
	TASK_NR_REGS
};

struct task_window {
	unsigned long text_start, text_end;
	unsigned long addr, length;	/* of its section, or table */
	unsigned char *bytes;
	bool packed;			/* a table, for code so much lower */
	unsigned long bias;
};

struct task_word {
	unsigned long addr, value;
};

/* A word that a walk has asked for when its chain had so many frames. */
struct task_read {
	struct task_word word;
	unsigned int frames;
	bool there;
};

struct task_chain {
	unsigned long ip[TASK_MAX_CHAIN];
	unsigned int nr;
};

/* A new one without windows. */
void task_init(void);
/* What the corpus has, a section; 0 or a negative errno. */
int task_add_window(const struct task_window *window);
/* Register it; 0 or a negative errno. */
int task_register(const struct task_window *window);

/* Valid until the next call; @stack may be in place of words, or NULL. */
void task_set_memory(const struct task_word *words, unsigned int nr,
		     const unsigned char *stack, unsigned long addr,
		     unsigned long size);
void task_set_regs(const unsigned long *regs);

/* perf's walk in a sample, and the deferred one. */
void task_walk(struct task_chain *chain, bool deferred);

/* From here on never several steps at once, whose reads would be those of one. */
void task_step_one_by_one(void);

/* What the last walk has read of the stack. */
const struct task_read *task_reads(unsigned int *nr);

#endif
