// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: rows that the module of sfjit run takes from instructions leave
 * the rows of a table as they are, except at the ends of libgcc's unwinder,
 * which lose theirs; and add rows where there was nothing.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <bare.h>
#include <sframegen.h>

#include "../lib/tap.h"
#include "amend.h"
#include "image.h"

struct counts {
	unsigned long same, other, lost, gained, leaves;
};

struct tables {
	struct sfg_section plain, amended;
};

static bool is_leaf(const struct sfjit_row *row)
{
	unsigned int i;

	for (i = 0; i < bare_nr_rows; i++)
		if (sfg_rows_equal(row, &bare_rows[i]))
			return true;
	return false;
}

static void compare(const struct tables *t, uint64_t at, struct counts *counts)
{
	struct sfjit_function f;
	struct sfjit_row before, after;
	int had = !sfg_find_row(&t->plain, at, &f, &before, NULL);
	int has = !sfg_find_row(&t->amended, at, &f, &after, NULL);

	counts->same += had && has && sfg_rows_equal(&before, &after);
	counts->other += had && has && !sfg_rows_equal(&before, &after);
	counts->lost += had && !has;
	counts->gained += !had && has;
	counts->leaves += !had && has && is_leaf(&after);
}

static void convert(const struct sfg_input *in, struct sfg_output *out,
		    struct sfg_section *section)
{
	MUST(!sfg_convert(in, out, NULL, NULL));
	MUST(!sfg_open_section(section, out->data, out->len, 0, NULL));
	MUST(!sfg_check_section(section, NULL));
}

static struct counts count(const struct image *image)
{
	struct sfg_input in = {
		.abi = SFG_HOST_ABI, .cfi = image->cfi,
		.flags = SFG_INPUT_ADDENDS, .text = image->text,
		.nr_text = image->nr_text,
	};
	struct counts counts = { 0 };
	struct sfg_output plain, amended;
	struct tables t;
	uint64_t i;

	convert(&in, &plain, &t.plain);
	in.amend = amend_functions;
	in.flags |= SFG_INPUT_CODE;
	convert(&in, &amended, &t.amended);
	for (; in.nr_text; in.nr_text--, in.text++)
		for (i = 0; i < in.text->len; i++)
			compare(&t, in.text->addr + i, &counts);
	free(plain.data);
	free(amended.data);
	return counts;
}

static int visit(struct dl_phdr_info *info, size_t size, void *name)
{
	struct counts counts;
	struct image image;
	const char *reason;
	bool unwinds;

	if (!strstr(info->dlpi_name, name))
		return 0;
	MUST(!image_read(&image, info, &reason));
	image_measure(&image);
	counts = count(&image);
	unwinds = strstr(name, "libgcc");
	result(counts.same > 1000 && !counts.other, name,
	       "%lu rows are the same, %lu others", counts.same, counts.other);
	/* Four functions of some hundred bytes each. */
	result(unwinds ? counts.lost >= 200 && counts.lost < 2000 :
			 !counts.lost, "rows that are false",
	       "%lu bytes lost their row", counts.lost);
	/* Of machines whose leaves are not found by libsframegen. */
	result(counts.gained &&
	       (!bare_nr_rows || counts.gained == counts.leaves), "leaves", "%lu bytes have a row, %lu of a leaf", counts.gained,
	       counts.leaves);
	return 1;
}

int main(void)
{
	static const char *const names[] = { "/libgcc_s.so.1", "/libc.so.6" };
	unsigned int i;

	MUST(dlopen("libgcc_s.so.1", RTLD_LAZY));
	for (i = 0; i < 2; i++)
		IS("the library is there",
		   dl_iterate_phdr(visit, (void *)names[i]), 1);
	return finish();
}
