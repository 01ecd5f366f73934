/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_H
#define SFJIT_H

#include <linux/types.h>

struct ctl_table;

int sfjit_series_init(void);
void sfjit_cache_exit(void);

int sfjit_sysctl_add(const char *path, const struct ctl_table *table,
		     size_t nr);
int sfjit_proc_init(void);
void sfjit_proc_exit(void);

int sfjit_callchain_init(void);
void sfjit_callchain_exit(void);
int sfjit_callchain_want(void);
void sfjit_callchain_wanted(void);

#endif
