/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Steps of the tests of sfjit_check() and sfjit_find_row(), for tables of both
 * formats. A test changes a table that make() has made, then asks for a verdict.
 */
#ifndef VERDICTS_H
#define VERDICTS_H

#include <sfjit/check.h>

#include "machine.h"
#include "prctl.h"

#define TEXT		0x7e0000001000UL
#define TEXT_LENGTH	0x1000

static _Alignas(16) unsigned char bytes[8192];
static struct sfjit_complaint complaint;
static struct sfjit_table table;

/* Makes the table anew: each test has its own. */
static void make(void);

static void use_table(size_t length)
{
	table = (struct sfjit_table){
		bytes, length, (void *)TEXT, TEXT_LENGTH, 0, 0,
	};
	complaint = (struct sfjit_complaint){ 0 };
}

/* Writes the @size low bytes in this machine's byte order. */
static void put(size_t off, uint64_t value, size_t size)
{
	const char *from = (const char *)&value;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		from += sizeof(value) - size;
	memcpy(bytes + off, from, size);
}

static void not_registered(const char *name, const char *reason)
{
	IS(name, sfjit_check(&table, &complaint), -EINVAL);
	result(complaint.reason && !strcmp(complaint.reason, reason), name,
	       "reason is %s", complaint.reason);
	TRUE(name, !complaint.address);
	IS(name, sfjit_check(&table, NULL), -EINVAL);
	make();
}

/*
 * Only sfjit_check() sees what is wrong with a CFA or, by the reason @unseen, with
 * the order of a table. Else there is no row of the address, for the same reason.
 */
static void ends_unless(const char *unseen, const char *name,
			const char *reason, uint64_t address)
{
	struct sfjit_row row, before;

	memset(&row, 0xaa, sizeof(row));
	before = row;
	IS(name, sfjit_check(&table, &complaint), -EBADMSG);
	result(complaint.reason && !strcmp(complaint.reason, reason), name,
	       "reason is %s", complaint.reason);
	IS(name, (long)complaint.address, address);
	if (strncmp(reason, "cfa", 3) && strcmp(reason, unseen)) {
		IS(name, sfjit_find_row(&table, (void *)address, NULL, &row,
					&complaint),
		   strcmp(reason, "no_fde") ? -EBADMSG : -ENOENT);
		TRUE(name, !strcmp(complaint.reason, reason));
		TRUE(name, !memcmp(&row, &before, sizeof(row)));
	}
	make();
}

static void no_row(const char *name, uint64_t ip, const char *reason)
{
	struct sfjit_row row;

	IS(name, sfjit_find_row(&table, (void *)ip, NULL, &row, &complaint),
	   -ENOENT);
	TRUE(name, !strcmp(complaint.reason, reason));
	IS(name, (long)complaint.address, ip);
}

#endif /* VERDICTS_H */
