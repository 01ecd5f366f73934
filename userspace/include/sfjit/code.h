/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_CODE_H
#define SFJIT_CODE_H

#include <stddef.h>

#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_code - register code whose table the library makes and keeps
 *
 * sfjit_register_functions() takes rows, sfjit_register_eh_frame() takes call
 * frame information, and sfjit_code_retire() removes what they registered.
 * sfjit_cover_modules() registers the program itself and its libraries.
 *
 * userspace/examples/eh_frame_jit.c and rows_jit.c are complete programs. Make
 * the code executable before you register it. Wait until no thread runs it or
 * returns to it before you unmap it, and retire it before that.
 */

struct sfjit_code;

/**
 * struct sfjit_range - a range of addresses
 * @start:	first byte
 * @length:	bytes
 */
struct sfjit_range {
	const void	*start;
	size_t		length;
};

/**
 * sfjit_register_functions - register functions by their rows
 * @functions:	as in sfjit_section_size()
 * @nr:		as in sfjit_section_size()
 * @code:	set to what sfjit_code_retire() takes
 *
 * The window extends from the first byte of the first function to the last byte
 * of the last one; its key is the address of the first byte. The library keeps
 * no reference to the arguments.
 *
 * Return:
 * * 0 - registered, or the kernel has no SFrame windows. On failure nothing is
 *   registered, and @code is not changed.
 * * -EINVAL - as sfjit_section_size() or sfjit_register(), or @code is NULL.
 * * -E2BIG, -ENOTSUP - as sfjit_section_size().
 * * -ENOMEM - no memory.
 * * -EBUSY, -EEXIST, -ENOSPC, -EINTR, -EOPNOTSUPP - as sfjit_register().
 */
int sfjit_register_functions(const struct sfjit_function *functions, size_t nr,
			     struct sfjit_code **code);

#define SFJIT_GAPS_CALLED	0x1

/**
 * sfjit_register_eh_frame - register code by its call frame information
 * @eh_frame:	bytes of .eh_frame as given to __register_frame(): relocated,
 *		and at the address for which they are relocated
 * @length:	number of bytes; bytes after a zero terminator are not read
 * @text:	ranges of code: each becomes a window with its first byte as the
 *		key
 * @nr:		number of ranges, at least 1
 * @flags:	0 or SFJIT_GAPS_CALLED
 * @code:	set to what sfjit_code_retire() takes
 *
 * The library reads the code to find the padding between functions, so register
 * an object when it is final. FDEs outside of the ranges are ignored. Functions
 * whose CFI SFrame cannot express get no rows, and stacks end there. The
 * library keeps no reference to the arguments: you may free @eh_frame.
 * Malformed CFI is never read beyond its end. Time is O(n log n) for each
 * range.
 *
 * With SFJIT_GAPS_CALLED you promise that code without an FDE was just called
 * and has not moved the stack pointer: stubs that only jump on, such as a
 * PLT's. Without the flag, stacks end there. If the address of an FDE cannot be
 * read, no code counts as such a gap.
 *
 * Return:
 * * 0 - registered, or the kernel has no SFrame windows. On failure nothing is
 *   registered, and @code is not changed.
 * * -EINVAL - @eh_frame, @text or @code is NULL; @length or @nr is 0; a range
 *   is empty or wraps around; @flags has unknown bits; @eh_frame is malformed;
 *   as sfjit_register().
 * * -ENOENT - a range has no function with rows: it does not belong to
 *   @eh_frame, or @eh_frame is not relocated yet.
 * * -E2BIG - functions are too far apart in a range, see sfjit_section_size(): pass
 *   several ranges; or a table would exceed the format's limits.
 * * -ENOMEM - no memory.
 * * -EBUSY, -EEXIST, -ENOSPC, -EINTR - as sfjit_register().
 * * -EOPNOTSUPP - as sfjit_register(), or SFrame has no number for this
 *   machine.
 */
int sfjit_register_eh_frame(const void *eh_frame, size_t length,
			    const struct sfjit_range *text, size_t nr,
			    unsigned int flags, struct sfjit_code **code);

/**
 * sfjit_code_retire - remove the windows of code and free their tables
 * @code:	code to retire; NULL does nothing
 *
 * Return:
 * * 0 - success. @code is gone in any case.
 * * -ENOENT - a window was already gone, because its code was unmapped.
 */
int sfjit_code_retire(struct sfjit_code *code);

/**
 * sfjit_cover_modules - register the program, its libraries and the vDSO
 * @flags:	0
 *
 * Generated code is only a part of a stack: most programs and libraries have no
 * frame pointers either. This call does from inside what "sfjit run" does, see
 * sfjit(1); under "sfjit run" it does nothing. It loads the module of that
 * command, libsfjit-preload.so, from the directory of this library, from sfjit,
 * ../sfjit or ../lib/sfjit there, or from where ld.so looks. The module makes a
 * table of each .eh_frame, or takes it from the cache in ~/.cache/sfjit, and
 * stays loaded. SFJIT_VERBOSE and SFJIT_LOG work as in sfjit(1):
 * SFJIT_VERBOSE=1 prints which files have no windows.
 *
 * Call it while the process has one thread, best first in main(). Then
 * libraries that dlopen() loads later are registered before any of their code
 * runs; otherwise call it again after each dlopen(). dlclose() needs nothing.
 * Code given to __register_frame() is not covered: register it yourself.
 *
 * It calls dlopen(): do not hold a lock that a constructor of this program
 * takes.
 *
 * Return:
 * * 0 - success, or the kernel has no SFrame windows.
 * * -EINVAL - @flags is not 0.
 * * -ENOENT - the module was not found, or cannot be loaded.
 * * -ENOTSUP - the program is statically linked.
 * * -EPERM - a seccomp filter was installed since the first call.
 */
int sfjit_cover_modules(unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_CODE_H */
