/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_TEXT_H
#define SFJIT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_text - windows for code that has no rows
 *
 * Code outside of all windows is unwound by frame pointer and needs no window.
 * Use one if something else would register the code: "sfjit run" registers what
 * lies beside described code, up to 64 KiB in the same mapping, and stacks end
 * there. No other window can overlap this one.
 *
 * The library has the table of such a window; nothing of yours has to live as
 * long. In all else it is like others: sfjit_unregister() removes it,
 * sfjit_replace() gives it another table, and unmapping any of its code removes
 * it. userspace/examples/text_jit.c is a
 * complete program.
 */

#define SFJIT_TEXT_FP		2
#define SFJIT_TEXT_END		3

/**
 * sfjit_register_text - tell the kernel how to unwind code without rows
 * @key:	as in sfjit_register()
 * @text:	first byte of the code
 * @text_length: bytes of code, less than 4 GiB
 * @what:	SFJIT_TEXT_FP or SFJIT_TEXT_END
 *
 * * SFJIT_TEXT_FP - the code keeps frame pointers. It is unwound by them, like
 *   code outside of all windows: in the first and last instructions of a
 *   function, before its frame pointer is set and after it is restored, its
 *   caller is missing.
 * * SFJIT_TEXT_END - stacks end here and count as complete: code that is
 *   entered with a fresh stack, or whose frame pointer register may hold
 *   anything.
 *
 * Both are packed tables. A kernel that has windows but not these unwinds the
 * code by frame pointer, so that a failure with SFJIT_TEXT_FP loses nothing.
 *
 * Return:
 * * 0 - registered, or the kernel has no SFrame windows.
 * * -EINVAL - @text is NULL; @text_length is 0; the range wraps around; @what
 *   is none of the above. These are found on every kernel.
 * * -EINVAL - the code is not completely mapped.
 * * -E2BIG - @text_length is 4 GiB or more.
 * * -EOPNOTSUPP - the kernel does not support packed tables, or the caller is a
 *   task of another word size.
 * * -EBUSY, -EEXIST, -ENOSPC, -ENOMEM, -EINTR - as sfjit_register().
 */
int sfjit_register_text(uintptr_t key, const void *text, size_t text_length,
			unsigned int what);

/**
 * sfjit_replace_text - replace a window by one without rows
 * @key:	window to replace, with or without rows
 * @text:	as in sfjit_register_text(); the new range equals or contains
 *		the old one
 * @text_length: as in sfjit_register_text()
 * @what:	as in sfjit_register_text()
 *
 * Each sample finds either the old window or the new one. If the call fails the
 * old window stays. After it returned 0 you may change or free the old table.
 *
 * Return: as sfjit_register_text(), without -EBUSY, and
 * * -ENOENT - no window has this key, for example because its code was
 *   unmapped.
 * * -EINVAL - the new range does not contain the old one.
 */
int sfjit_replace_text(uintptr_t key, const void *text, size_t text_length,
		       unsigned int what);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_TEXT_H */
