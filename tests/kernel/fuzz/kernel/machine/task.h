/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef FUZZ_TASK_H
#define FUZZ_TASK_H

/* What a task may be. */
enum machine_task {
	TASK_PLAIN,
	TASK_KERNEL,	/* not interrupted in user space */
	TASK_COMPAT,
	TASK_ODD,	/* no stack that the kernel understands */
};

#endif
