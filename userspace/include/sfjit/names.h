/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_NAMES_H
#define SFJIT_NAMES_H

#include <stddef.h>

#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_names - names for code whose addresses are reused
 *
 * A line of the perf map holds for a whole profile. These names hold from the
 * time of the call on. Load a name before the code can run, and drop it when
 * the code no longer runs. Let the user choose the files, since the user reads
 * them:
 *
 * * SFJIT_NAMES_MAP - /tmp/perf-PID.map, as sfjit_perf_map_name() writes it.
 *   perf looks there only for addresses in anonymous memory, private or shared,
 *   and in /dev/zero. For code in a memfd or another file it looks for symbols
 *   in that file, which has none.
 * * SFJIT_NAMES_LOG - /tmp/sfjit-PID.names, for readers that know the time of a
 *   sample.
 * * SFJIT_NAMES_JITDUMP - DIR/jit-PID.dump, perf's jitdump, with the code and,
 *   as .eh_frame, the rows. It works for any mapping, also memfds, and lets
 *   --call-graph=dwarf unwind the code on any kernel. Beside it
 *   DIR/jit-PID.retired has what was dropped, for which perf has no record:
 *   sfjit inject and sfjit record read it.
 *
 * The log has these lines, with TIME in nanoseconds of CLOCK_MONOTONIC in
 * decimal, START and SIZE in hexadecimal::
 *
 *	load TIME START SIZE NAME
 *	drop TIME START SIZE
 *
 * An address has the name of the last load that covers it and is not after the
 * sample, unless a drop that covers it came in between.
 *
 * jit-PID.retired begins with the first 40 bytes of the jitdump; then each drop
 * has its time, start and size, of 8 bytes each.
 *
 * To profile with a jitdump::
 *
 *	perf record -k mono --call-graph=fp -o perf.data -- PROGRAM
 *	perf inject --jit -i perf.data -o perf.jit.data
 *	perf report -i perf.jit.data
 *
 * perf inject drops the call chains of fp,defer.
 */
#define SFJIT_NAMES_MAP		0x1
#define SFJIT_NAMES_LOG		0x2
#define SFJIT_NAMES_JITDUMP	0x4

/**
 * sfjit_names_open - choose where names go from now on
 * @what:	one or more of SFJIT_NAMES_*, in addition to those chosen
 *		before; see sfjit_names(7)
 * @dir:	JITDUMP: directory of the files, copied; NULL: /tmp. Otherwise,
 *		or if there is a jitdump already, ignored
 *
 * perf inject writes a file for each function to @dir. A perf that unwinds by
 * libdw (Debian 13's) unwinds code of files in /tmp only.
 *
 * The jitdump is made in this call. perf record learns of it from a page of it
 * that stays mapped executable: so perf must already record, and the file
 * system must not be mounted noexec. No file descriptor stays open.
 *
 * A forked child inherits the choice and makes its own files with the first
 * name that it loads: MAP and LOG begin with the parent's lines; perf itself
 * knows those of the jitdump.
 *
 * Return:
 * * 0 - success. On failure nothing was chosen.
 * * -EINVAL - @what is 0 or has unknown bits.
 * * -ENAMETOOLONG - @dir is too long.
 * * -EPERM - the file belongs to another user or is not a regular file, or the
 *   file system is mounted noexec.
 * * -ELOOP - the file is a symbolic link.
 * * -ENOMEM - there was no memory for atfork handlers when the library was
 *   loaded, or to map the page.
 * * other - as open(2), write(2) and mmap(2).
 */
int sfjit_names_open(unsigned int what, const char *dir);

/**
 * sfjit_names_close - stop writing names
 *
 * Ends the jitdump. The files stay.
 *
 * Return:
 * * 0 - success. No names are written from now on in any case.
 * * other - as open(2) and write(2).
 */
int sfjit_names_close(void);

/**
 * sfjit_names_load - name code from now on
 * @function:	function and rows, as published; a jitdump gets a copy of its
 *		code
 * @room:	bytes after the function that nothing else will use, see
 *		sfjit_names_room(); 0 if in doubt
 * @name:	as in sfjit_perf_map_name()
 *
 * If names are not open this costs one load and does nothing. Otherwise it
 * takes the library's lock and some system calls for each file. A file that
 * failed does not keep the others from being written.
 *
 * Return:
 * * 0 - success. Most callers ignore errors. Otherwise the first error:
 * * -EINVAL - @name is NULL or empty; @function breaks a rule of
 *   sfjit_section_size().
 * * -E2BIG - its code is larger than a jitdump record, or it has too many rows.
 * * -ENOMEM - no memory for a record.
 * * other - as sfjit_perf_map_name() and sfjit_names_open().
 */
int sfjit_names_load(const struct sfjit_function *function, size_t room,
		     const char *name);

/**
 * sfjit_names_drop - drop the names of code from now on
 * @start:	first byte
 * @length:	bytes; names that it covers in part are dropped for that part
 *
 * Call it when no thread runs the code any more. It is written to the log, and
 * to the file beside a jitdump. If you load new code at the same place you do
 * not need it: the new name replaces the old one. But code written there
 * without a load would be taken for the old code, with its rows.
 *
 * sfjit_pool_retire() and sfjit_epoch_reclaim() drop names themselves. Removing
 * other windows does not, since the code may have another window.
 *
 * Return:
 * * 0 - success.
 * * -EINVAL - @length is 0, or the range wraps around.
 * * other - as sfjit_perf_map_name().
 */
int sfjit_names_drop(const void *start, size_t length);

/**
 * sfjit_names_room - get the bytes after a function that perf's unwinder needs
 * @function:	function and rows
 *
 * "perf inject --jit" maps .eh_frame after the code, and a perf that unwinds by
 * libunwind (Debian 12's) finds it only there. If sfjit_names_load() is given
 * less room, names are still right, but only a perf that unwinds by libdw
 * unwinds the code with --call-graph=dwarf. Such a perf uses the rows of the
 * first code at an address for later code that starts there too. Stacks of
 * --call-graph=fp do not depend on this. If your JIT leaves this room only when
 * JITDUMP is chosen, it costs nothing otherwise.
 *
 * Return:
 * * more than 0 - number of bytes: about 100, and a few for each row.
 * * -EINVAL - @function breaks a rule of sfjit_section_size().
 * * -E2BIG - it has too many rows, or over 2 GiB.
 * * -ENOTSUP - there is no such information for this machine.
 */
long sfjit_names_room(const struct sfjit_function *function);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_NAMES_H */
