/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * The input, a file in memory that is opened by its name; and what stands for
 * output.c of sframegen/cmd, stdout and stderr.
 */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <stddef.h>
#include <stdint.h>

#define INPUT_FD	100
#define INPUT_NAME	"/proc/self/fd/100"
#define OUTPUT_NAME	"output"

struct printed {
	size_t len, lines;
	char first[64];		/* not ended by 0 */
};

struct files {
	uint8_t *output;	/* NULL: not written */
	size_t output_len;
	struct printed out, err;
};

extern struct files files;

/* Once, before anything is printed. */
void files_init(void);
/* What the next command reads; forgets what the last one wrote. */
void files_start(const void *input, size_t len);
/* Now all that was printed is counted. */
void files_end(void);

#endif /* FUZZ_FILES_H */
