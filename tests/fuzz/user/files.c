// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

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
}

void files_start(const void *input, size_t len)
{
	free(files.output);
	files = (struct files) { .input = input, .input_len = len };
}

void files_end(void)
{
	fflush(stdout);
	fflush(stderr);
}

int read_whole_file(const char *path, uint8_t **data, size_t *len)
{
	REQUIRE(!strcmp(path, INPUT_NAME));
	*data = exact_copy(files.input, files.input_len);
	*len = files.input_len;
	return 0;
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
