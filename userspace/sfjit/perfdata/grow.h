/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_PERFDATA_GROW_H
#define SFJIT_PERFDATA_GROW_H

#include <stddef.h>

/*
 * @list with room for one more than the @nr that it has, of @size bytes each. It
 * may have moved. NULL: there is no memory, and the list is as it was.
 */
void *grow(void *list, size_t nr, size_t *room, size_t size);

#endif /* SFJIT_PERFDATA_GROW_H */
