// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The command around flip.c, with the host's headers. */
#include <stdio.h>
#include <stdlib.h>

#include "flip.h"

#define PAGE	4096

int main(int argc, char **argv)
{
	unsigned int part = 0, of = 1;
	unsigned char *bytes;
	unsigned long steps;
	size_t length, room;
	FILE *f;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: kernel-flip SECTION [PART OF]\n");
		return 2;
	}
	if (argc == 4) {
		part = strtoul(argv[2], NULL, 0);
		of = strtoul(argv[3], NULL, 0);
	}
	f = fopen(argv[1], "rb");
	if (!f || fseek(f, 0, SEEK_END)) {
		perror(argv[1]);
		return 2;
	}
	length = ftell(f);
	rewind(f);
	bytes = malloc(length);
	if (fread(bytes, 1, length, f) != length || length < 28) {
		fprintf(stderr, "%s: cannot be read\n", argv[1]);
		return 2;
	}
	room = length + PAGE;
	/* 12 bytes are enough for a struct shadow. */
	steps = flip_bits(bytes, length, calloc(room, 1),
			  calloc(room, sizeof(int)), calloc(room, 12),
			  calloc(room, 1), part, of);
	printf("%zu bits, %lu steps: no finding\n",
	       8 * (length * (part + 1) / of - length * part / of), steps);
	return 0;
}
