/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The series keeps windows in a member `sframe' of struct mm_struct. Unpatched
 * kernels lack it, so its sources use struct sfjit_mm as address space, whose
 * members have the same names. Include kernel headers first.
 *
 * The module depends on the internals of the sources only here. This becomes
 * two lines if the series gets an accessor for the registry of an mm.
 */
#ifndef SFJIT_SERIES_H
#define SFJIT_SERIES_H

#include "mm.h"

struct sfjit_task {
	struct sfjit_mm	*mm;
};

#define mm_struct	sfjit_mm
#include <linux/sframe.h>
#include "sframe.h"

/* The rest is for sources of the series; other files use the kernel's names. */
#ifndef SFJIT_SERIES_SOURCE
#undef mm_struct
#else
#define mmap_read_lock_killable(entry)	mmap_read_lock_killable((entry)->mm)
#define mmap_read_unlock(entry)		mmap_read_unlock((entry)->mm)
#define mmget_not_zero(entry)		mmget_not_zero((entry)->mm)
#define mmput(entry)			mmput((entry)->mm)
#define vma_lookup(entry, addr)		sfjit_vma_lookup(entry, addr)
#endif

#ifdef SFJIT_SERIES_CURRENT_MM
#undef current
#define current	\
	(&(struct sfjit_task){ .mm = sfjit_mm_or_none(get_current()->mm) })
#endif

/* The same, also for calls that act on another process. */
#ifdef SFJIT_SERIES_TARGET_MM
#undef current
#define current	(&(struct sfjit_task){ .mm = sfjit_mm_of_target() })
#endif

#endif
