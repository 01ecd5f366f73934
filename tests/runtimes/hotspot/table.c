// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: what the agent for Java VMs knows of code: a method that may not
 * have been finished counts as long as nothing changes, and stays if it is asked
 * for.
 */
#include <stdlib.h>
#include <string.h>

#include "../../lib/tap.h"
#include "table.h"

static unsigned char text[100];

static struct table_code code_of(uint32_t id, bool made)
{
	static const struct sfjit_row row = {
		.cfa = { .base = SFJIT_BASE_REG, .reg = SFJIT_X86_64_SP,
			 .offset = 8 },
	};
	uintptr_t start = (uintptr_t)text;
	struct table_code code = {
		.start = start, .end = start + sizeof(text), .nr_rows = 1,
		.rows = malloc(sizeof(row)), .made = made,
		.method = { .blob = 16, .compile_id = id, .begin = start,
			    .end = start + sizeof(text) },
		.sum = table_sum(start, start + sizeof(text)),
	};

	MUST(code.rows);
	*code.rows = row;
	return code;
}

static struct vm_method add(uint32_t id, bool made)
{
	struct table_code code = code_of(id, made);

	MUST(!table_add(&code));
	return code.method;
}

static void check_sums(void)
{
	uintptr_t start = (uintptr_t)text;
	uint64_t sum = table_sum(start, start + sizeof(text));
	unsigned int i, same = 0;

	for (i = 0; i < sizeof(text); i++) {
		text[i] ^= 1;
		same += table_sum(start, start + sizeof(text)) == sum;
		text[i] ^= 1;
		same += table_sum(start, start + i) == sum;
	}
	IS("other code has another sum", same, 0);
}

static void check_made(void)
{
	struct vm_method m = add(1, false), other;

	TRUE("it is there", table_has(&m, false) && table_has(&m, true));
	text[0]++;
	TRUE("code that runs changes", table_has(&m, true));
	other = m;
	other.compile_id = 2;
	TRUE("another method there", !table_has(&other, false) &&
	     !table_has(&other, true));
	m = add(2, true);
	TRUE("one that is made", table_has(&m, false));
	text[sizeof(text) - 1]++;
	TRUE("it was not finished", !table_has(&m, false) &&
	     !table_has(&m, true));
	text[sizeof(text) - 1]--;
	other = m;
	other.frame = 64;
	TRUE("its frame was not known", !table_has(&other, true));
	TRUE("nothing has changed", table_has(&m, false));
	text[0]++;
	TRUE("it does", !table_has(&m, false));
	text[0]--;
	TRUE("it is installed", table_has(&m, true));
	text[0]++;
	TRUE("from then on it changes", table_has(&m, true));
	m = add(3, true);
	text[0]++;
	TRUE("made again", !table_has(&m, true));
	m = add(3, false);
	TRUE("and there", table_has(&m, true));
}

static bool stays(const struct vm_method *method)
{
	return method->compile_id == 3;
}

static bool goes(const struct vm_method *method)
{
	return method->compile_id != 3;
}

static void check_remove(void)
{
	struct vm_method m = add(3, false);

	table_remove(m.begin + 1, goes);
	TRUE("another start", table_has(&m, true));
	table_remove(m.begin, stays);
	TRUE("it stays", table_has(&m, true));
	table_remove(m.begin, goes);
	TRUE("it goes", !table_has(&m, true));
	m = add(3, false);
	table_remove_unused(stays);
	TRUE("it is used", table_has(&m, true));
	table_remove_unused(goes);
	TRUE("it is not used", !table_has(&m, true));
}

static void check_rows(void)
{
	struct table_code code = code_of(4, false);
	struct table_code other = code_of(5, false);
	struct table_stat stat;

	/* As after popping the return address, with the CFA in a register. */
	other.rows->cfa = (struct sfjit_rule){ .base = SFJIT_BASE_REG,
					       .reg = 13 };
	other.rows->ra = (struct sfjit_rule){ .base = SFJIT_BASE_REG };
	MUST(!table_add(&other));
	TRUE("the CFA and the return address in registers",
	     other.rows->cfa.base != SFJIT_BASE_NONE);

	/* The return address, at the CFA - 8, would be below the stack. */
	code.rows->cfa.offset = 0;
	MUST(!table_add(&code));
	table_stat(&stat);
	TRUE("a row that no walk can use is none", !stat.error &&
	     stat.codes == 1 && code.rows->cfa.base == SFJIT_BASE_NONE);
}

int main(void)
{
	table_lock();
	MUST(!table_add_heap((uintptr_t)text, (uintptr_t)text + sizeof(text)));
	check_sums();
	check_made();
	check_remove();
	check_rows();
	table_unlock();
	return finish();
}
