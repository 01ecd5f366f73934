/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* Where the program's windows come from. */
#ifndef SIGNALS_H
#define SIGNALS_H

/* Returns 0, or -1 with errno set. */
int signals_begin(void);

#endif /* SIGNALS_H */
