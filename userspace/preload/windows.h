/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Which addresses of a module its windows cover.
 */
#ifndef SFJIT_PRELOAD_WINDOWS_H
#define SFJIT_PRELOAD_WINDOWS_H

#include "image.h"
#include "table.h"

/*
 * By the section, which was made for address 0 and link-time addresses. 0 or
 * -ENOMEM.
 */
int windows_choose(struct table *table, const void *data, size_t length,
		   const struct image *image);

#endif /* SFJIT_PRELOAD_WINDOWS_H */
