// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Create pools, areas, and windows that own a section.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int create(size_t size, int (*init)(void *object, const void *how),
		  const void *how, void *result)
{
	void *object = calloc(1, size);
	int ret;

	if (!object)
		return -ENOMEM;
	ret = init(object, how);
	if (ret)
		free(object);
	else
		memcpy(result, &object, sizeof(object));
	return ret;
}

int sfjit_create(size_t size, int (*init)(void *object, const void *how),
		 const void *how, void *result)
{
	int ret = sfjit_lock_for_new();

	if (ret)
		return ret;
	ret = create(size, init, how, result);
	sfjit_unlock();
	return ret;
}
