/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Why a file cannot be converted, in a line. Each function that is given a
 * trouble and fails has filled it.
 */
#ifndef SFJIT_PERFDATA_TROUBLE_H
#define SFJIT_PERFDATA_TROUBLE_H

#include <stdint.h>

struct trouble {
	char text[256];
};

/* At an offset of the input the file is damaged. Returns -EBADMSG. */
__attribute__((format(printf, 3, 4)))
int trouble_damaged(struct trouble *trouble, uint64_t offset,
		    const char *why, ...);

/* It is sound, but nothing that can be converted. Returns -ENOTSUP. */
__attribute__((format(printf, 2, 3)))
int trouble_refused(struct trouble *trouble, const char *why, ...);

/* The operation failed with -@error. Returns @error. */
int trouble_failed(struct trouble *trouble, const char *what, int error);

#endif /* SFJIT_PERFDATA_TROUBLE_H */
