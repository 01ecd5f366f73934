/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Converted tables on disk, one file per module:
 * ${XDG_CACHE_HOME:-$HOME/.cache}/sfjit/tables/<id>.sframe, or
 * <id>.addend.sframe if its rows may have addends
 *
 * A file is a raw SFrame section made for address 0, which other tools read,
 * and behind it a trailer that says what it was made from. Files are written
 * under another name and renamed, never changed.
 */
#ifndef SFJIT_PRELOAD_CACHE_H
#define SFJIT_PRELOAD_CACHE_H

#include <stdint.h>

#include "image.h"
#include "table.h"

/* Takes a copy of what it needs: programs overwrite their environment. */
void cache_init(char **environment);

/*
 * Tables whose rows may have addends are others than those whose rows may not.
 * -errno when there is no usable file, which is normal and not reported.
 */
int cache_load(struct table *table, const struct image *image, bool addends);
void cache_store(const void *section, size_t length, const struct image *image,
		 bool addends);

#endif /* SFJIT_PRELOAD_CACHE_H */
