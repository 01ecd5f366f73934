/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Environment variables without getenv(), which shells define themselves.
 */
#ifndef SFJIT_PRELOAD_ENVIRONMENT_H
#define SFJIT_PRELOAD_ENVIRONMENT_H

#include <string.h>

/* "" when the variable is not set. */
static inline const char *get_variable(char **environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, length) &&
		    (*environment)[length] == '=')
			return *environment + length + 1;
	return "";
}

#endif /* SFJIT_PRELOAD_ENVIRONMENT_H */
