/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_UNWIND_SFRAME_KNOWN_H
#define _KERNEL_UNWIND_SFRAME_KNOWN_H

#include <linux/unwind_user_types.h>

/* What is followed where no window says otherwise. */
extern const struct unwind_user_frame sframe_fp_frame;

#endif /* _KERNEL_UNWIND_SFRAME_KNOWN_H */
