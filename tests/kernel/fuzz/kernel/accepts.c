// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: kernel-accepts FILE ADDRESS TEXT TEXT_LENGTH
 *
 * FILE is a section that was linked for ADDRESS, with text at TEXT. Registers it
 * with the kernel's code and with the library, and looks up each address of each
 * function. Prints the numbers of functions, of addresses, and of addresses
 * without a row; these are for a section that is refused 0.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct made {
	unsigned long functions, addresses, without;
};

struct made check_made(const uint8_t *bytes, unsigned long size, uint64_t at,
		       uint64_t text, uint64_t text_length);

int main(int argc, char **argv)
{
	static uint8_t bytes[1 << 20];
	FILE *file = argc == 5 ? fopen(argv[1], "rb") : NULL;
	struct made made;
	size_t size;

	if (!file) {
		fputs("usage: kernel-accepts FILE ADDRESS TEXT TEXT_LENGTH\n",
		      stderr);
		return 2;
	}
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	made = check_made(bytes, size, strtoull(argv[2], NULL, 16),
			  strtoull(argv[3], NULL, 16),
			  strtoull(argv[4], NULL, 16));
	printf("%lu functions, %lu addresses, %lu without a row\n",
	       made.functions, made.addresses, made.without);
	return 0;
}
