/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_RUN_KERNEL_H
#define SFJIT_RUN_KERNEL_H

/*
 * Why programs get no windows from this kernel, a constant, or NULL. An older one
 * has windows, but reads no packed tables.
 */
const char *kernel_lacks_windows(void);

#endif /* SFJIT_RUN_KERNEL_H */
