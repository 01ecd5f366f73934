/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * /dev/sfjit, by which a kernel with the module takes windows.
 */
#ifndef SFJIT_NODE_H
#define SFJIT_NODE_H

#include <stdbool.h>

/*
 * Like prctl() with an option PR_SFRAME_*. Returns the answer or -errno;
 * -EINVAL, as prctl() on a kernel without windows, if there is no node. A process
 * asks for a missing node once. After a call has reached the module, -EPERM also
 * means that the process can no longer open the node. Async-signal-safe; no
 * cancellation point.
 */
long sfjit_node_call(int option, unsigned long arg2, unsigned long arg3,
		     unsigned long arg4, unsigned long arg5);

/* A call has reached the module: windows may exist. */
bool sfjit_node_used(void);

/* Find out whether there is a node, if that is unknown. */
void sfjit_node_find(void);

#endif /* SFJIT_NODE_H */
