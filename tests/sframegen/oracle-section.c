// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdio.h>
#include <stdlib.h>

#include "oracle-section.h"

static void *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	void *data;

	if (!f || fseek(f, 0, SEEK_END))
		return NULL;
	*len = ftell(f);
	rewind(f);
	data = malloc(*len);
	if (!data || fread(data, 1, *len, f) != *len)
		return NULL;
	fclose(f);
	return data;
}

bool load_section(const char *path, struct sfg_section *s)
{
	size_t len;
	void *data = read_file(path, &len);

	return data && !sfg_open_section(s, data, len, 0, NULL);
}

bool load_table(const char *path, struct sfg_packed *t)
{
	size_t len;
	void *data = read_file(path, &len);

	return data && !sfg_open_packed(t, data, len, NULL) &&
	       !sfg_check_packed(t, NULL);
}
