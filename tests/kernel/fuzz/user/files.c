// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands.h"
#include "object.h"
#include "files.h"
#include "oracle.h"

struct files files;

static ssize_t print(void *cookie, const char *text, size_t len)
{
	struct printed *p = cookie;
	size_t i;

	for (i = 0; i < len; i++) {
		/* nothing that a terminal acts on */
		REQUIRE(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
		if (p->len < sizeof(p->first))
			p->first[p->len] = text[i];
		p->len++;
		p->lines += text[i] == '\n';
	}
	return len;
}

static FILE *open_printed(struct printed *p)
{
	FILE *f = fopencookie(p, "w", (cookie_io_functions_t) {
		.write = print,
	});

	setvbuf(f, NULL, _IOFBF, 65536);
	return f;
}

void files_init(void)
{
	/* libFuzzer and the sanitizers have taken the real ones by now */
	stdout = open_printed(&files.out);
	stderr = open_printed(&files.err);
	REQUIRE(dup2(memfd_create("input", 0), INPUT_FD) == INPUT_FD);
}

void files_start(const void *input, size_t len)
{
	free(files.output);
	files = (struct files) { .output = NULL };
	REQUIRE(!ftruncate(INPUT_FD, 0));
	REQUIRE(pwrite(INPUT_FD, input, len, 0) == (ssize_t)len);
}

void files_end(void)
{
	fflush(stdout);
	fflush(stderr);
}

int write_file(const char *path, const void *data, size_t len)
{
	REQUIRE(!strcmp(path, OUTPUT_NAME) && !files.output);
	files.output = exact_copy(data, len);
	files.output_len = len;
	return 0;
}

bool output_is_stdout(const char *path)
{
	return false;
}
