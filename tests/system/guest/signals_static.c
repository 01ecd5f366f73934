// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * `sfjit run' does nothing for a statically linked program. This one makes the
 * same windows for itself: of its own code, C library included, and the vDSO.
 */
#include <errno.h>

#include "image.h"
#include "modules.h"
#include "signals.h"
#include "table.h"
#include "windows.h"

static int make_table(struct table *table, struct image *image)
{
	struct sfg_summary summary;
	struct sfg_output out;
	int ret;

	image_measure(image);
	ret = sfg_convert(&(struct sfg_input) {
		.abi = SFRAME_ABI_AMD64_LE, .cfi = image->cfi,
		.text = image->text, .nr_text = image->nr_text,
		.flags = SFG_INPUT_ADDENDS | SFG_INPUT_PACKED,
	}, &out, &summary, NULL);
	if (ret)
		return ret;
	table->data = out.data;
	table->length = out.len;
	return table_choose_windows(table, out.data, out.len, image);
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct table table = { .nr_windows = 0 };
	const struct window *w;
	struct windows_entry entry;
	const char *reason;
	struct image image;
	unsigned int i;
	int ret;

	ret = image_read(&image, info, &reason);
	if (!ret)
		ret = make_table(&table, &image);
	w = table_windows(&table);
	for (i = 0; i < table.nr_windows && !ret; i++, w++) {
		entry = (struct windows_entry) {
			.key = image.bias + w->start, .table = table.data,
			.length = table.length, .bias = image.bias,
			.start = image.bias + w->start,
			.end = image.bias + w->start + w->length,
		};
		ret = windows_register(&entry);
	}
	return ret;
}

int signals_begin(void)
{
	int ret = dl_iterate_phdr(visit, NULL);

	errno = -ret;
	return ret ? -1 : 0;
}
