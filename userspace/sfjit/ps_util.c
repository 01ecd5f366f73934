// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Names and files for the other parts of sfjit ps. */
#include <errno.h>
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

static FILE *open_file(const char *dir, const char *name, const char *mode)
{
	FILE *file;
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	file = fopen(path, mode);
	free(path);
	return file;
}

FILE *ps_open(const char *dir, const char *name)
{
	return open_file(dir, name, "re");
}

/* The module's file has the windows of the process whose number is written. */
FILE *ps_open_sframe(const char *dir)
{
	FILE *file = ps_open(dir, "sframe");
	int error;

	if (file || errno != ENOENT)
		return file;
	file = open_file(dir, "../sfjit", "r+e");
	if (!file || dprintf(fileno(file), "%s", strrchr(dir, '/') + 1) > 0)
		return file;
	error = errno;
	fclose(file);
	errno = error;
	return NULL;
}
