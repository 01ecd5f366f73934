/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* The commands; each prints its own message and returns 0 or -errno. */
#ifndef SFRAMEGEN_COMMANDS_H
#define SFRAMEGEN_COMMANDS_H

#include <stdio.h>

#include "core.h"

struct options {
	const char *input, *output;
	uint64_t at;
	unsigned int max_rows;
};

int command_elf(const struct options *opts);
int command_template(const struct options *opts);
int command_dump(const struct options *opts);
/* 1: there are differences. */
int command_verify(const struct options *opts);

struct object;
void print_summary(FILE *to, const struct object *f,
		   const struct sfg_summary *sum, size_t section_len);

/* format.c: "CFA=sp+16 FP=[CFA-16]"; what a row says, for people. */
#define ROW_TEXT_MAX	160
void format_row(const struct sfg_arch *arch, const struct sfjit_row *row,
		char *text);
/*
 * A name that a file chose: what a terminal might act on as \xNN, and no more
 * than this many bytes of it.
 */
#define NAME_TEXT_MAX	1000
void print_name(FILE *to, const char *name);

/*
 * window_cfi.c: .eh_frame for a window of equal slots of 'slot' bytes (a power
 * of two) that repeat the rows. Returns its length, or 0: not expressible.
 */
#define WINDOW_CFI_MAX	512

struct window_cfi {
	uint8_t data[WINDOW_CFI_MAX];
	size_t len;
	size_t start_off, size_off;	/* 8 bytes each, absolute */
};

bool make_window_cfi(const struct sfg_arch *arch,
		     const struct sfjit_function *fde, unsigned int slot,
		     struct window_cfi *cfi);

#endif /* SFRAMEGEN_COMMANDS_H */
