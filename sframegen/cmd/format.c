// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Rows, names and messages as text. */
#include <inttypes.h>

#include "commands.h"

static int format_rule(unsigned int abi,
		       const struct sfjit_rule *rule, char *text)
{
	const char *base = rule->base == SFJIT_BASE_CFA ? "CFA" :
			   sfg_reg_name(abi, rule->reg);
	char offset[16] = "", addend[16] = "";

	if (rule->offset)
		snprintf(offset, sizeof(offset), "%+" PRId32, rule->offset);
	if (rule->addend)
		snprintf(addend, sizeof(addend), "%+" PRId32, rule->addend);
	return sprintf(text, rule->deref ? "[%s%s]%s" : "%s%s%s", base, offset,
		       addend);
}

/* Three rules of at most 31 bytes each and the mark fit ROW_TEXT_MAX. */
void format_row(unsigned int abi, const struct sfjit_row *row,
		char *text)
{
	if (row->flags & SFJIT_ROW_OUTERMOST) {
		strcpy(text, "RA undefined");
		return;
	}
	if (row->flags & SFG_ROW_FP) {
		strcpy(text, "by frame pointer");
		return;
	}
	text += sprintf(text, "CFA=");
	text += format_rule(abi, &row->cfa, text);
	if (row->ra.base) {
		text += sprintf(text, " RA=");
		text += format_rule(abi, &row->ra, text);
	}
	if (row->fp.base) {
		text += sprintf(text, " FP=");
		text += format_rule(abi, &row->fp, text);
	}
	if (row->flags & SFJIT_ROW_MANGLED_RA)
		strcpy(text, " mangled");
	if ((row->flags & SFJIT_ROW_RBX) == SFJIT_ROW_RBX_KEPT)
		strcpy(text, " rbx kept");
	else if (row->flags & SFJIT_ROW_RBX)
		sprintf(text, " rbx=[CFA-%u]", row->flags & SFJIT_ROW_RBX);
}

/*
 * Terminals act on ESC, and some on the bytes 0x80 to 0x9f: 0x9b means ESC [.
 * Bytes from 0x80 are below ' ' if char is signed (AMD64), and above '~' if not
 * (AArch64, s390x).
 */
void print_name(FILE *to, const char *name)
{
	const char *end = name + NAME_TEXT_MAX;

	for (; *name && name < end; name++)
		fprintf(to, *name < ' ' || *name > '~' ? "\\x%02x" : "%c",
			(unsigned char)*name);
}

void path_refused(const char *path, const char *reason)
{
	fputs("sframegen: ", stderr);
	print_name(stderr, path);
	fprintf(stderr, ": %s\n", reason);
}

int path_error(const char *path, int code)
{
	path_refused(path, strerror(-code));
	return code;
}
