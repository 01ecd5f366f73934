// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows from call frame information, converted by sframegen.
 */
#include <errno.h>
#include <stdlib.h>

#include <sframegen.h>

#include "area.h"
#include "code.h"

struct cfi {
	const void	*eh_frame;
	size_t		length;
	unsigned int	flags;
	const struct sfjit_range *text;
	size_t		nr;
};

/* Code and CFI are read in place, so addresses are pointers. */
static struct sfg_image image_of(const void *start, size_t length)
{
	return (struct sfg_image){ start, length, (uintptr_t)start };
}

static struct sfg_input input_of(const struct cfi *cfi,
				 const struct sfg_image *text)
{
	return (struct sfg_input){
		.abi = SFG_HOST_ABI,
		.flags = SFG_INPUT_ADDENDS | SFG_INPUT_PACKED | SFG_INPUT_JIT |
			 (cfi->flags & SFJIT_GAPS_CALLED ? SFG_INPUT_CALLED : 0),
		.cfi = image_of(cfi->eh_frame, cfi->length),
		.text = text,
		.nr_text = 1,
	};
}

static bool is_range(const struct sfjit_range *text)
{
	return text->start && text->length &&
	       !sfjit_wraps(text->start, text->length);
}

static bool is_plausible(const struct cfi *cfi)
{
	size_t i;

	if (!cfi->eh_frame || !cfi->length || !cfi->text || !cfi->nr ||
	    cfi->flags & ~SFJIT_GAPS_CALLED)
		return false;
	for (i = 0; i < cfi->nr; i++)
		if (!is_range(&cfi->text[i]))
			return false;
	return true;
}

/* Map errors of sframegen to those of this library. */
static int error_of(int ret)
{
	return ret == -ENOTSUP ? -EOPNOTSUPP : ret;
}

static int convert(struct sfjit_code_window *window, const struct cfi *cfi,
		   const struct sfjit_range *range)
{
	struct sfg_image text = image_of(range->start, range->length);
	struct sfg_input in = input_of(cfi, &text);
	struct sfg_summary summary;
	struct sfg_output out;
	int ret;

	ret = sfg_convert(&in, &out, &summary, NULL);
	if (ret)
		return error_of(ret);
	window->section = out.data;
	window->length = out.len;
	window->text = range->start;
	window->text_length = range->length;
	return summary.fdes ? 0 : -ENOENT;
}

static int fill_window(struct sfjit_code_window *window, size_t i,
		       const void *from)
{
	const struct cfi *cfi = from;

	return convert(window, cfi, &cfi->text[i]);
}

int sfjit_register_eh_frame(const void *eh_frame, size_t length,
			    const struct sfjit_range *text, size_t nr,
			    unsigned int flags, struct sfjit_code **result)
{
	const struct cfi cfi = { eh_frame, length, flags, text, nr };

	if (!result || !is_plausible(&cfi))
		return -EINVAL;
	return sfjit_code_create(&(struct sfjit_code_request){
		.fill = fill_window, .from = &cfi, .nr = nr,
	}, result);
}

static int derive(const struct cfi *cfi, struct sfg_fdes *fdes)
{
	struct sfg_image text = image_of(cfi->text->start, cfi->text->length);
	struct sfg_input in = input_of(cfi, &text);
	int ret = sfg_derive(&in, fdes, NULL, NULL);

	if (ret)
		return error_of(ret);
	if (fdes->nr)
		return 0;
	sfg_free_fdes(fdes);
	return -ENOENT;
}

int sfjit_area_publish_eh_frame(struct sfjit_area *area, const void *eh_frame,
				size_t length, const struct sfjit_range *text,
				unsigned int flags, const void **start)
{
	const struct cfi cfi = { eh_frame, length, flags, text, 1 };
	struct sfg_fdes fdes;
	int ret;

	if (!area || !is_plausible(&cfi))
		return -EINVAL;
	ret = sfjit_area_check_text(area, text);
	if (!ret)
		ret = derive(&cfi, &fdes);
	if (ret)
		return ret;
	ret = sfjit_area_publish_all(area, fdes.fdes, fdes.nr);
	if (!ret && start)
		*start = (const void *)(uintptr_t)fdes.fdes[0].addr;
	sfg_free_fdes(&fdes);
	return error_of(ret);
}
