// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Names and files for the other parts of sfjit ps. */
#include <stdlib.h>
#include <string.h>

#include "check_alloc.h"
#include "ps_util.h"

char *ps_keep_name(const char *name, size_t *bytes)
{
	size_t length = strlen(name) + 1;

	/* A name may have 16 KiB, and as many owners as there are windows. */
	if (length > PS_MOST_NAMES - *bytes)
		return NULL;
	*bytes += length;
	return check_alloc(strdup(name));
}

FILE *ps_open(const char *dir, const char *name)
{
	FILE *file;
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	file = fopen(path, "re");
	free(path);
	return file;
}
