// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: code of JITs that runs in the frame of other code has a frame
 * pointer that no walk uses; other code keeps its rows (built with
 * AddressSanitizer).
 */
#include <string.h>

#include <sframegen.h>

#include "../lib/tap.h"
#include "amend.h"

#define CODE	0x7f0012340000

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)
#define ROW(start, cfa, fp) { start, 0, cfa, SFJIT_NO_RULE, fp }

static const struct sfjit_rule odd = SP(1);

/* As those of packed tables. */
static void tell_rbx(struct sfjit_row *row, size_t nr)
{
	for (; nr--; row++)
		if (!(row->flags & SFJIT_ROW_OUTERMOST))
			row->flags = SFJIT_ROW_RBX_KEPT;
}

/* Amends a function; returns whether the row at an offset is now this one. */
static bool becomes(const struct sfjit_row *rows, size_t nr, uint32_t at,
		    struct sfjit_rule fp)
{
	struct sfjit_row copy[4], found;
	struct sfjit_function f = {
		.addr = CODE, .size = 64, .nr_rows = nr, .rows = copy,
	};
	struct sfg_fdes fdes = { .fdes = &f, .nr = 1, .rows = copy };
	static uint8_t section[SFG_SECTION_MAX(1, 4)];
	struct sfg_section s;
	struct sfjit_function of;
	size_t length;

	memcpy(copy, rows, nr * sizeof(*rows));
	tell_rbx(copy, nr);
	MUST(!amend_borrowed(NULL, &fdes));
	MUST(!sfg_write_section(SFG_HOST_ABI, &f, 1, 0, section,
				sizeof(section), &length, NULL));
	MUST(!sfg_open_section(&s, section, length, 0, NULL));
	MUST(!sfg_find_row(&s, CODE + at, &of, &found, NULL));
	return found.cfa.offset == rows[at ? 1 : 0].cfa.offset &&
	       !memcmp(&found.fp, &fp, sizeof(fp));
}

/* Whether a function loses its row, between two that do not. */
static bool is_removed(const struct sfjit_row *row)
{
	static const struct sfjit_row kept = ROW(0, SP(112), SFJIT_NO_RULE);
	struct sfjit_row rows[] = { kept, *row, kept };
	struct sfjit_function f[3];
	struct sfg_fdes fdes = { .fdes = f, .nr = 3, .rows = rows };
	size_t i;

	for (i = 0; i < 3; i++)
		f[i] = (struct sfjit_function){
			.addr = CODE + 64 * i, .size = 64, .nr_rows = 1,
			.rows = rows + i,
		};
	tell_rbx(rows, 3);
	MUST(!amend_borrowed(NULL, &fdes));
	return fdes.nr == 2 && f[0].addr == CODE && f[1].addr == CODE + 128;
}

int main(void)
{
	static const struct sfjit_row nothing = ROW(0, SP(0), SFJIT_NO_RULE);
	static const struct sfjit_row half = ROW(0, SP(7), SFJIT_NO_RULE);
	static const struct sfjit_row address = ROW(0, SP(8), SFJIT_NO_RULE);
	static const struct sfjit_row outermost = {
		.flags = SFJIT_ROW_OUTERMOST,
	};
	static const struct sfjit_row borrowed[] = {
		ROW(0, SP(112), SFJIT_NO_RULE), ROW(4, SP(144), SFJIT_NO_RULE),
	};
	static const struct sfjit_row called[] = {
		ROW(0, SP(8), SFJIT_NO_RULE), ROW(4, SP(144), SFJIT_NO_RULE),
	};
	static const struct sfjit_row saves[] = {
		ROW(0, SP(112), SFJIT_SAVED(-16)),
		ROW(4, SP(144), SFJIT_SAVED(-16)),
	};
	static const struct sfjit_row framed[] = {
		ROW(0, SFJIT_REG(SFJIT_X86_64_FP, 16), SFJIT_NO_RULE),
		ROW(4, SP(144), SFJIT_NO_RULE),
	};
	const struct sfjit_rule none = SFJIT_NO_RULE, saved = SFJIT_SAVED(-16);

	TRUE("borrowed: its first row", becomes(borrowed, 2, 0, odd));
	TRUE("borrowed: each row", becomes(borrowed, 2, 4, odd));
	TRUE("called: stays", becomes(called, 2, 0, none) &&
	     becomes(called, 2, 4, none));
	TRUE("with a rule for the frame pointer: stays",
	     becomes(saves, 2, 0, saved) && becomes(saves, 2, 4, saved));
	TRUE("found by the frame pointer: stays",
	     becomes(framed, 2, 0, none));
	TRUE("less than a return address: it has no row",
	     is_removed(&nothing) && is_removed(&half));
	TRUE("a return address, or the end of stacks: stays",
	     !is_removed(&address) && !is_removed(&outermost));
	return finish();
}
