/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_UNWIND_SFRAME_PACKED_H
#define _KERNEL_UNWIND_SFRAME_PACKED_H

#include "sframe.h"

int sframe_read_packed_header(struct sframe_packed *packed, unsigned long addr,
			      unsigned long len, unsigned long bias);
int sframe_check_copy(struct sframe_packed *packed, const void *table,
		      unsigned long len, unsigned long bias);
enum sframe_reason sframe_read_packed(struct unwind_user_state *state,
				      const struct sframe_window *window,
				      unsigned long ip,
				      struct unwind_user_caller *caller);

static __always_inline bool
sframe_is_packed(const struct sframe_window *window)
{
	return window && window->format == SFRAME_FORMAT_PACKED;
}

/* Is the table a checked copy in kernel memory? */
static __always_inline bool
sframe_is_copied(const struct sframe_window *window)
{
	return IS_ENABLED(CONFIG_UNWIND_USER_SFRAME_FILES) && window->copied;
}

#endif /* _KERNEL_UNWIND_SFRAME_PACKED_H */
