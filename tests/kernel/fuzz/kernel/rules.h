/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef FUZZ_RULES_H
#define FUZZ_RULES_H

/* What addresses of a packed table have, enum unwind_user_kind; or nothing. */
#define RULES_UNKNOWN	5
#define RULES_NR	6

struct rules_found {
	unsigned long kinds[RULES_NR];
	unsigned long different;
	unsigned long first;	/* of the different ones */
	unsigned int most_reads;
};

/*
 * Read the rule of each address of the code by the kernel and by the library.
 * Return: 0, or 1 if one of them refuses the table.
 */
int rules_compare(const void *data, unsigned long size,
		  struct rules_found *found);

/*
 * A table that is changed while it is in use, or was made up: what is found does
 * not matter, but each read has to be inside, and a look-up may make no more reads
 * than in a good table. Change one byte after the header for each of @count
 * look-ups. Return: most reads of a look-up, or -1 if the kernel refuses the table.
 */
int rules_hostile(unsigned char *data, unsigned long size, unsigned long count);

#endif
