/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_HOOKS_H
#define SFJIT_HOOKS_H

#include <linux/ftrace.h>

/**
 * struct sfjit_hook - a function of the kernel that the module diverts
 * @name:	its name
 * @ops:	handler that runs at the start of the function and may divert it
 * @filtered:	@ops has the filter for @name, until the module is unloaded
 * @active:	@ops is registered
 */
struct sfjit_hook {
	const char		*name;
	struct ftrace_ops	ops;
	bool			filtered;
	bool			active;
};

#define SFJIT_HOOK(function, handler)					\
	{								\
		.name = #function,					\
		.ops = {						\
			.func = handler,				\
			.flags = FTRACE_OPS_FL_IPMODIFY |		\
				 FTRACE_OPS_FL_PERMANENT,		\
		},							\
	}

int sfjit_hook_add(struct sfjit_hook *hook);
void sfjit_hook_remove(struct sfjit_hook *hook);
void sfjit_hook_free(struct sfjit_hook *hook);
void *sfjit_hook_entry(const char *name);
void *sfjit_hook_body(const char *name);

#endif
