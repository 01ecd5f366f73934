/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a command is, as far as it matters to a preloaded library.
 */
#ifndef SFJIT_RUN_PROGRAM_H
#define SFJIT_RUN_PROGRAM_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>

struct program {
	char path[PATH_MAX];	/* what execve() gets */
	char elf[PATH_MAX];	/* that, or its interpreter; "": not ELF */
	char loader[PATH_MAX];	/* glibc's ld.so; "": of another kind */
	const char *why_not;	/* it runs without windows; NULL: with */
	bool no_preload;	/* ld.so or the program would object */
	bool attach;		/* that gives it windows all the same */
};

/*
 * Finds the command as execvp() does and follows "#!" to the interpreter.
 * Returns 0, or the errno of execvp() negated.
 */
int program_find(struct program *program, const char *command);

/* Of a file that is ELF: its machine and word size are ours. */
bool program_is_native(const ElfW(Ehdr) *eh);

#endif /* SFJIT_RUN_PROGRAM_H */
