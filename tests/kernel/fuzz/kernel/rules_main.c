// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: kernel-rules [-n COUNT] TABLE...
 *
 * Packed tables of this machine, see rules.c. Prints for each
 *	TABLE PLAIN RULES SIGNAL OUTERMOST POINTER UNKNOWN: READS reads at most
 * which are numbers of addresses, and fails if there is a difference. With -n the
 * table is then changed COUNT times, see rules_hostile(), which prints
 *	TABLE hostile: READS reads at most
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

#define ALIGN		16
#define MOST		(256UL << 20)

static void *read_file(const char *path, unsigned long *size)
{
	FILE *file = fopen(path, "r");
	static unsigned char all[MOST];
	void *data;

	if (!file) {
		perror(path);
		exit(1);
	}
	*size = fread(all, 1, MOST, file);
	fclose(file);
	/* Exactly so long, for the sanitizer. */
	if (posix_memalign(&data, ALIGN, *size))
		exit(1);
	return memcpy(data, all, *size);
}

int main(int argc, char **argv)
{
	unsigned long size, count = 0;
	struct rules_found found;
	void *data;
	int kind;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		count = strtoul(argv[2], NULL, 0);
		argv += 2;
		argc -= 2;
	}
	if (argc < 2)
		return 2;
	while (*++argv) {
		data = read_file(*argv, &size);
		if (rules_compare(data, size, &found)) {
			fprintf(stderr, "%s: the table is refused\n", *argv);
			return 1;
		}
		printf("%s", *argv);
		for (kind = 0; kind < RULES_NR; kind++)
			printf(" %lu", found.kinds[kind]);
		printf(": %u reads at most\n", found.most_reads);
		if (found.different) {
			fprintf(stderr, "%s: %lu rules differ, first at %lx\n",
				*argv, found.different, found.first);
			return 1;
		}
		if (count)
			printf("%s hostile: %d reads at most\n", *argv,
			       rules_hostile(data, size, count));
		free(data);
	}
	return 0;
}
