// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdlib.h>
#include <string.h>

#include "check_alloc.h"
#include "names.h"

bool names_have(const struct names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

void names_add(struct names *names, const char *name)
{
	if (names_have(names, name))
		return;
	names->name = check_alloc(reallocarray(names->name, names->nr + 1,
					       sizeof(name)));
	names->name[names->nr++] = check_alloc(strdup(name));
}

void names_free(struct names *names)
{
	while (names->nr)
		free(names->name[--names->nr]);
	free(names->name);
	names->name = NULL;
}
