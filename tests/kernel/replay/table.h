/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * What the kernel is given of a window of the corpus, which has a section: a packed
 * table of its rows, for link-time addresses, or the section itself. Of a corpus there
 * are few rows, which may be far apart: then there are several windows with tables.
 */
#ifndef REPLAY_TABLE_H
#define REPLAY_TABLE_H

#include <stdbool.h>

/* For the windows to come: sections as they are. */
void tables_are_sections(bool sections);
/* A new process begins: its windows are counted from here on. */
void tables_begin(void);
/* Windows of the process that have a row only packed tables have: an addend. */
unsigned int tables_with_addends(void);

#endif
