/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Areas, for the library itself.
 */
#ifndef SFJIT_LIB_AREA_H
#define SFJIT_LIB_AREA_H

#include "internal.h"

/*
 * Whether text is inside of the area; and functions of call frame information
 * in it, which ascend, published as one. Return 0 or -errno.
 */
int sfjit_area_check_text(const struct sfjit_area *area,
			  const struct sfjit_range *text);
int sfjit_area_publish_all(struct sfjit_area *area,
			   const struct sfjit_function *functions, size_t nr);

/*
 * The text of an area; a range of whole granules from its start on can be reset
 * whatever is published beside it. Whether a function crosses an address.
 */
void sfjit_area_text(const struct sfjit_area *area, uintptr_t *start,
		     size_t *length, size_t *granule);
bool sfjit_area_is_split(const struct sfjit_area *area, uintptr_t address);

/*
 * From now on its text does not grow, or may grow again. Returns 0, or -EBUSY if
 * it is divided already. With the lock held.
 */
int sfjit_area_divide(struct sfjit_area *area, bool divide);

#endif /* SFJIT_LIB_AREA_H */
