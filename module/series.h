/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The series keeps windows in a member `sframe' of struct mm_struct. Kernels as
 * they are have none, so its sources take struct sfjit_mm for the address space,
 * whose members have the names that they use. Include kernel headers first.
 *
 * This is all that the module has to know of the inside of the sources. It
 * becomes two lines if the series gets an accessor for the registry of an mm.
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

/* The rest is for sources; other files see the kernel's own names again. */
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

/* The same in calls for another process. */
#ifdef SFJIT_SERIES_TARGET_MM
#undef current
#define current	(&(struct sfjit_task){ .mm = sfjit_mm_of_target() })
#endif

#endif
