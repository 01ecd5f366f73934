/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* The section or table that an oracle looks into, whole in memory. */
#ifndef DIFF_SECTION_H
#define DIFF_SECTION_H

#include <stdbool.h>

#include "sframegen.h"

/* 's->data' is to be released with free(). */
bool load_section(const char *path, struct sfg_section *s);
/* The same for a packed table, which is checked. */
bool load_table(const char *path, struct sfg_packed *t);

#endif /* DIFF_SECTION_H */
