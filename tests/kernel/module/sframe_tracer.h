/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a read of /dev/sframe_tracer returns.
 */
#ifndef SFRAME_TRACER_H
#define SFRAME_TRACER_H

#include <linux/types.h>

#define SEEN_MAX	32

/**
 * struct seen - what a tracer has got
 * @requested:	the cookie of its last request
 * @stacks:	how many stacks came
 * @cookie:	of the last one
 * @assisted:	whether its program said it
 * @nr:		its length
 * @ip:		its first addresses
 */
struct seen {
	__u64	requested;
	__u64	stacks;
	__u64	cookie;
	__u64	assisted;
	__u64	nr;
	__u64	ip[SEEN_MAX];
};

#endif /* SFRAME_TRACER_H */
