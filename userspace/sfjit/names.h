/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A list of names, each of them once, in the order of coming.
 */
#ifndef SFJIT_RUN_NAMES_H
#define SFJIT_RUN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct names {
	char **name;
	size_t nr;
};

bool names_have(const struct names *names, const char *name);
/* Takes a copy. */
void names_add(struct names *names, const char *name);
void names_free(struct names *names);

#endif /* SFJIT_RUN_NAMES_H */
