/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef JITS_ORACLE_H
#define JITS_ORACLE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_FRAMES	600
#define MAX_MAPS	8192
#define NR_REGS		20	/* as the recorder asks for */
#define REG_BP		6
#define REG_SP		7
#define REG_IP		8

/* Executable memory. */
struct map {
	uint64_t start, length, offset;
	uint64_t bias;		/* of the file's addresses */
	bool is_elf;		/* below ROOT, with executable segments */
	bool reported;		/* to libdw, with this bias */
	bool is_writable;	/* may differ from the file */
	char *path;
};

struct process {
	uint32_t pid;
	char name[16];
	unsigned int nr_maps;
	struct map maps[MAX_MAPS];
	Dwfl *dwfl;		/* NULL when the files have changed */
	uint64_t counted;	/* ends of stacks, as the kernel counts them */
	uint64_t counted_until;	/* CLOCK_MONOTONIC */
	uint64_t began;		/* this program, or process */
	uint64_t windows_since;	/* of this program; 0: it has none yet */
	uint64_t nr_cuts;
	uint64_t *cuts;		/* times of samples that do not reach the end */
};

struct sample {
	uint32_t pid, tid;
	uint64_t time, regs[NR_REGS];
	const uint64_t *ip;
	uint64_t nr, cookie;
	const unsigned char *stack;
	uint64_t size;
	bool deferred;
};

enum ending { OUTERMOST, NO_CFI, NO_FILE, TRUNCATED, FAILED };

/*
 * sp: the stack pointer at ip; that of a caller is next to its return address,
 * so it says which frame is meant. searched: the frame below has no call frame
 * information. gap: nor does the call name it, so another one may be in between.
 */
struct frame {
	uint64_t ip, sp;
	bool searched, gap;
};

struct truth {
	struct frame frames[MAX_FRAMES];
	unsigned int nr;
	enum ending ending;
};

/* oracle.c */
const struct map *map_of(const struct process *process, uint64_t ip);
Dwfl *dwfl_of(struct process *process);
/* The bytes at @addr of the file that is mapped there; false if there are none. */
bool read_code(const struct process *process, uint64_t addr, void *bytes,
	       size_t size);

/* truth.c */
extern const Dwfl_Thread_Callbacks thread_callbacks;
/* Whether there is a rule for the caller; *outermost: that there is none. */
bool has_rules(Dwfl *dwfl, uint64_t pc, bool *outermost);
bool read_stack(const struct sample *sample, uint64_t addr, uint64_t *word);
void find_truth(const struct sample *sample, struct process *process,
		struct truth *truth);

/* verdict.c */
/* @early: it had no windows yet. */
void judge(const struct sample *sample, struct process *process, bool early);

#endif
