/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_H
#define SFJIT_H

#include <linux/types.h>
#include <linux/version.h>

struct ctl_table;
struct mm_struct;

int sfjit_series_init(void);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
bool sfjit_tree_changes(void);
#else
static inline bool sfjit_tree_changes(void) { return false; }
#endif

#ifdef CONFIG_UNWIND_USER_SFRAME_FILES
int sfjit_files_init(void);
void sfjit_files_exit(void);
#else
static inline int sfjit_files_init(void) { return 0; }
static inline void sfjit_files_exit(void) { }
#endif

int sfjit_sysctl_add(const char *path, const struct ctl_table *table,
		     size_t nr);
int sfjit_proc_init(void);
void sfjit_proc_exit(void);

int sfjit_register(struct mm_struct *mm, unsigned long key, unsigned long addr,
		   unsigned long len, unsigned long opts);

int sfjit_open_files(unsigned long arg2, unsigned long arg3, unsigned long arg4,
		     unsigned long arg5);

int sfjit_device_init(void);
void sfjit_device_exit(void);
bool sfjit_device_permits(void);

int sfjit_callchain_init(void);
void sfjit_callchain_exit(void);
int sfjit_callchain_want(void);
void sfjit_callchain_wanted(void);

#endif
