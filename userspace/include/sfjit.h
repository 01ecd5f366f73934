/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * libsfjit: make code generated at run time walkable by the kernel.
 *
 * Rules that hold for every call of this header:
 *
 * - A call returns 0 (or a value >= 0 where it says so) on success and -errno
 *   on failure. errno itself may be changed by any call.
 * - A range is its first byte, called @start or by what lies there (@section,
 *   @text), and its number of bytes, called @length. Ranges are half-open.
 *   @size is the bytes of an object: a function, a slot, a buffer.
 * - Every call is MT-safe, except that calls with the same live window must be
 *   made one at a time. No call is async-signal-safe unless it says so.
 * - fork: the child can use every pool, trampoline and registration; the kernel
 *   copies the windows. fork is permitted at any time, also in a signal
 *   handler. A process made by vfork() or by clone() with CLONE_VM shares them:
 *   only exec or _exit there.
 * - Cancellation: no call is a cancellation point.
 * - pthread_atfork: handlers that take a lock under which you call this library
 *   must be registered after it was loaded, or a fork may deadlock. The library
 *   registers its own when it is loaded: in a program that is linked with it,
 *   before main() and before constructors without priority. If that fails,
 *   calls that create a pool or a live window, or give a name, return -ENOMEM.
 * - On a kernel without SFrame windows, or where a seccomp filter hides them,
 *   registering, replacing and unregistering succeed and do nothing. Everything
 *   else works; only the stacks are shorter.
 * - With the environment variable SFJIT_DEBUG each registration is checked, on
 *   any kernel, and mistakes are written to stderr: see sfjit(7). The calls then
 *   return what a kernel with windows would. With the value "abort" the first
 *   mistake ends the program.
 */
#ifndef SFJIT_H
#define SFJIT_H

#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>
#include <sfjit/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What the running kernel offers ---------------------------------- */

/* Questions for sfjit_available(). */
#define SFJIT_QUERY_KERNEL	0	/* 1: the kernel takes registrations */
#define SFJIT_QUERY_FLAGS	1	/* SFRAME_WINDOW_* flags it knows */
#define SFJIT_QUERY_FORMATS	2	/* bit n: it reads SFRAME_FORMAT n */
#define SFJIT_QUERY_LIMIT	3	/* most windows of one process */

/**
 * sfjit_available - query what the running kernel supports
 * @query:	SFJIT_QUERY_*
 *
 * Each call queries the kernel and nothing is cached, so that the answer is
 * right after a seccomp filter was installed and in a restored process image.
 * The flags and formats are those of <sfjit/sframe.h>.
 *
 * Return: the answer; 0 to every question on a kernel without SFrame windows.
 *   -EINVAL	@query is none of the above.
 */
long sfjit_available(unsigned int query);

/* ---- Windows in memory of the caller --------------------------------- */

/**
 * sfjit_register - tell the kernel how to walk through a range of code
 * @key:	name of the window, unique in the process
 * @section:	SFrame version 3 section that describes the code
 * @length:	bytes of @section; may be more than it uses
 * @text:	first byte of the code
 * @text_length: bytes of code; 0 with @text NULL takes the range from the
 *		first to the last function of the section
 *
 * Convention: @key is the address of the first byte of the code, as an
 * integer. Code of two producers in one process never shares an address, so
 * that their keys differ. The pools of libsfjit follow this convention.
 *
 * Order: write the code, make it executable, write the section, register.
 * Unregister, wait until no thread runs in the code, unmap. @section remains
 * memory of the caller. The kernel reads it at every sample: it must neither
 * change nor be freed before sfjit_unregister() or sfjit_replace() returned. It
 * need not be executable, aligned, nor near the code; it should be in memory
 * that was written to (anonymous, not a mapped file), because a sample that
 * finds it paged out ends there. Unmapping any byte of the code removes the
 * window and frees its key; the rest of the code is not walkable then.
 *
 * A row with an addend (struct sfjit_rule) is not version 3. It works where
 * sfjit_available(SFJIT_QUERY_FORMATS) has the bit of SFRAME_FORMAT_V3_ADDEND;
 * elsewhere the window is registered as well, and stacks end at this row.
 *
 * Code that a window covers is walked by its section only: an address for
 * which the section has no row ends the stack there. Code outside of all
 * windows is walked by frame pointer.
 *
 * Return: 0, also where the kernel knows no SFrame windows.
 *   -EINVAL	@section is NULL; @length is less than a header; one of @text
 *		and @text_length is 0; a range wraps around; the kernel does not
 *		support the header; the code is not completely mapped
 *		executable; the section has no functions and there is no @text.
 *   -EBUSY	@key is in use.
 *   -EEXIST	The range overlaps that of another window.
 *   -EFAULT	@section is not readable.
 *   -ENOSPC	The process has as many windows as vm.max_sframe_windows.
 *   -ENOMEM	The kernel is out of memory.
 *   -EINTR	A fatal signal is pending.
 *   -EOPNOTSUPP The caller is a task of another word size.
 */
int sfjit_register(uintptr_t key, const void *section, size_t length,
		   const void *text, size_t text_length);

/**
 * sfjit_register_biased - register a section that was made for other addresses
 * @key:	as in sfjit_register()
 * @section:	as in sfjit_register(); may be shared by processes
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register(); the code where it is
 * @text_length: as in sfjit_register()
 * @bias:	added to the start of each function, modulo the size of memory
 *
 * A section says how far its functions are from it. One that is mapped from a
 * file, so that processes share it, lies elsewhere in each: @bias makes up for
 * that. A section that was made for address 0 and for code at its link-time
 * addresses, and lies at S for code that was loaded B higher, has the bias
 * B - S. The other calls are those with bias 0.
 *
 * Pages of a file can be evicted, and the file can be cut short: a sample ends
 * there. Map it with MAP_POPULATE, and do not read the mapping where the file
 * may be cut short by others: that raises SIGBUS, here and not in the kernel.
 *
 * Return: as sfjit_register(), and
 *   -E2BIG	@bias is not 0, and the kernel knows none.
 */
int sfjit_register_biased(uintptr_t key, const void *section, size_t length,
			  const void *text, size_t text_length,
			  uintptr_t bias);

/**
 * sfjit_replace - replace the section of a window, and extend its range
 * @key:	window to replace
 * @section:	as in sfjit_register()
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register(); the new range equals or contains the old
 * @text_length: as in sfjit_register()
 *
 * Every sample finds the old window or the new one, and when the call fails the
 * old window is still there. When the call has returned 0 the old section may
 * be changed or freed.
 *
 * Return: as sfjit_register(), without -EBUSY, and
 *   -ENOENT	No window has this key.
 *   -EINVAL	The new range does not contain the old one.
 */
int sfjit_replace(uintptr_t key, const void *section, size_t length,
		  const void *text, size_t text_length);

/**
 * sfjit_unregister - remove a window
 * @key:	as registered
 *
 * When it returns 0, the section may be changed or freed.
 *
 * Return: 0, also where the kernel knows no SFrame windows.
 *   -ENOENT	No window has this key. Also when the code was unmapped.
 */
int sfjit_unregister(uintptr_t key);

/* ---- Text without a section ------------------------------------------- */

/*
 * What text without rows is. The numbers are those of the kernel's formats in
 * <sfjit/sframe.h>, which sfjit_available(SFJIT_QUERY_FORMATS) has bits for.
 *
 * FP	the code keeps frame pointers and is walked by them, as code outside of
 *	all windows is. A function's caller is missing in samples of its first
 *	and last instructions, where its frame is not that of the frame pointer
 * END	stacks end here, as complete ones: code that is entered with a fresh
 *	stack, or whose frame pointer register may hold anything
 */
#define SFJIT_TEXT_FP		2
#define SFJIT_TEXT_END		3

/**
 * sfjit_register_text - tell the kernel what code without rows is
 * @key:	as in sfjit_register()
 * @text:	first byte of the code, which is executable
 * @text_length: bytes of code
 * @what:	SFJIT_TEXT_*
 *
 * There is no section: nothing has to live as long as the window. It is one as
 * others are: no other may overlap it, sfjit_unregister() removes it,
 * sfjit_replace() gives it a section, and it goes when any of its code is
 * unmapped.
 *
 * A kernel that has windows, and not these, walks the code by frame pointer. So
 * nothing is lost by a failure with FP. What END says, a section can say
 * instead: a function with one row, which has SFJIT_ROW_OUTERMOST.
 *
 * Return: 0, also where the kernel knows no SFrame windows.
 *   -EINVAL	@text is NULL; @text_length is 0; the range wraps around; @what
 *		is none of the above; the code is not completely mapped
 *		executable.
 *   -EOPNOTSUPP The kernel does not know @what, or the caller is a task of
 *		another word size.
 *   -EBUSY, -EEXIST, -ENOSPC, -ENOMEM, -EINTR  as sfjit_register().
 */
int sfjit_register_text(uintptr_t key, const void *text, size_t text_length,
			unsigned int what);

/**
 * sfjit_replace_text - replace a window by one without a section
 * @key:	window to replace, of either kind
 * @text:	as in sfjit_register_text(); the new range equals or contains
 *		the old one
 * @text_length: as in sfjit_register_text()
 * @what:	as in sfjit_register_text()
 *
 * Every sample finds the old window or the new one, and when the call fails the
 * old window is still there. When the call has returned 0 the old section may
 * be changed or freed.
 *
 * Return: as sfjit_register_text(), without -EBUSY, and
 *   -ENOENT	No window has this key.
 *   -EINVAL	The new range does not contain the old one.
 */
int sfjit_replace_text(uintptr_t key, const void *text, size_t text_length,
		       unsigned int what);

/* ---- Sections made from rows ----------------------------------------- */

/*
 * Rows and functions are described in <sfjit/rows.h>. A row is refused, with
 * -EINVAL, if the format has no bytes for it, or if no walk could use it: the
 * CFA as the stack pointer plus an offset is above it, and as the stack or the
 * frame pointer plus an offset a multiple of 8 from it.
 *
 * The kernel reads 64 rows of an entry of a section. A function of more rows is
 * written as several entries that follow each other. Rows of code that repeats
 * cannot be shared out: more than 64 are refused with -E2BIG.
 */

/**
 * sfjit_section_size - bytes that sfjit_section_fill() needs
 * @functions:	functions, sorted by address, without overlap
 * @nr:		number of functions, at least 1
 *
 * Allocates nothing. The size does not depend on the addresses.
 *
 * Return: size of the section.
 *   -EINVAL	@functions is NULL or @nr 0; a function or a row breaks a rule
 *		above.
 *   -E2BIG	The section would be larger than the format can express, or a
 *		function that repeats has more than 64 rows.
 *   -ENOTSUP	SFrame has no number for this machine: RISC-V, PowerPC.
 */
long sfjit_section_size(const struct sfjit_function *functions, size_t nr);

/**
 * sfjit_section_fill - write the section for functions
 * @section:	where it will be read
 * @length:	bytes at @section
 * @functions:	as in sfjit_section_size()
 * @nr:		as in sfjit_section_size()
 *
 * The section refers to the code by distance: it is valid only at @section.
 * Allocates nothing and keeps no reference to its arguments. On failure
 * nothing was written.
 *
 * Return: bytes written.
 *   -EINVAL	as sfjit_section_size(), or @section is NULL.
 *   -E2BIG, -ENOTSUP  as sfjit_section_size().
 *   -ENOSPC	@length is too small.
 */
long sfjit_section_fill(void *section, size_t length,
			const struct sfjit_function *functions, size_t nr);

/* ---- Rows from what the code does ------------------------------------- */

/* How many states sfjit_rows_remember() can hold. */
#define SFJIT_ROWS_REMEMBERED	8

/* What is known of the stack at some place of the code. */
struct sfjit_rows_state {
	int32_t		depth;	/* bytes from the stack pointer to the CFA */
	int32_t		frame;	/* the same from the frame pointer; 0: unused */
	int32_t		saved;	/* from there to the CFA, the caller's; or 0 */
	int32_t		ra;	/* the same of a return address; 0: register */
	int32_t		outermost;
};

/**
 * struct sfjit_rows - makes the rows of a function from its stack operations
 * @rows:	the caller's array, filled from its beginning
 * @max:	rows that it has space for
 * @nr:		rows that are in use
 * @error:	0, or why sfjit_rows_function() is going to fail
 *
 * The rest is the library's own. Begin with sfjit_rows_init(), which says that
 * the function was just called. Then, in the order of the addresses, tell each
 * instruction that changes the stack pointer or the frame pointer. @behind is
 * where it ends, in bytes from the start of the function: the offset that the
 * emitter has when it has emitted the instruction. End with
 * sfjit_rows_function(), which is the only call that reports a mistake.
 *
 * Where calls leave the return address in a register (AArch64, RISC-V, Power,
 * s390x), sfjit_rows_saved_ra() says when it is stored. These machines have no
 * push: what stores and moves the stack pointer is told by sfjit_rows_adjust()
 * and by the two that say what was saved, all with the same @behind. On s390x the
 * CFA is 160 bytes above the stack pointer at the entry, and what is saved in the
 * caller's register save area is less than that below it.
 *
 * Nothing here allocates or takes a lock, and all of it is async-signal-safe.
 * The calls for one struct are made one at a time. Nothing has to be freed.
 */
struct sfjit_rows {
	struct sfjit_row	*rows;
	uint32_t		max;
	uint32_t		nr;
	int			error;
	uint32_t		nr_remembered;
	struct sfjit_rows_state	now;
	struct sfjit_rows_state	remembered[SFJIT_ROWS_REMEMBERED];
};

/**
 * sfjit_rows_init - begin with the row of a function that was just called
 * @rows:	filled
 * @array:	space for rows, which stays the caller's; one for each change
 *		of the stack that is told is enough
 * @max:	number of rows
 */
void sfjit_rows_init(struct sfjit_rows *rows, struct sfjit_row *array,
		     uint32_t max);

/**
 * sfjit_rows_push - a register was pushed
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 * @reg:	its DWARF number. Only that of the frame pointer matters, which
 *		has to be right
 *
 * Only where a call stores the return address on the stack, as is
 * sfjit_rows_leave(): x86-64.
 *
 * sfjit_rows_pop() is the reverse. After a pop of the frame pointer rows start
 * from the stack pointer again. Where that moved by an unknown amount,
 * sfjit_rows_depth() has to be called first.
 */
void sfjit_rows_push(struct sfjit_rows *rows, uint32_t behind,
		     unsigned int reg);
void sfjit_rows_pop(struct sfjit_rows *rows, uint32_t behind,
		    unsigned int reg);

/**
 * sfjit_rows_adjust - the stack pointer was moved
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 * @bytes:	by how much the frame grew: 32 for sub $32, %rsp, -32 for
 *		add $32, %rsp
 */
void sfjit_rows_adjust(struct sfjit_rows *rows, uint32_t behind,
		       int32_t bytes);

/**
 * sfjit_rows_depth - the stack pointer was set
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 * @bytes:	from the stack pointer to the CFA
 *
 * For lea -24(%rbp), %rsp and the like. An alloca() needs no call, since rows
 * start from the frame pointer there.
 */
void sfjit_rows_depth(struct sfjit_rows *rows, uint32_t behind, int32_t bytes);

/**
 * sfjit_rows_saved - the frame pointer was stored, or loaded, without a push
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 * @bytes:	from where it is stored to the CFA: more than those of the return
 *		address that a call has stored there. 0: it is what it was in the
 *		caller, again
 */
void sfjit_rows_saved(struct sfjit_rows *rows, uint32_t behind, int32_t bytes);

/**
 * sfjit_rows_saved_ra - the return address was stored, or loaded into its
 *			 register
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 * @bytes:	from where it is stored to the CFA; negative: above it, as on Power.
 *		0: it is in its register, again
 *
 * Only where a call leaves it in a register. It is not signed.
 */
void sfjit_rows_saved_ra(struct sfjit_rows *rows, uint32_t behind,
			 int32_t bytes);

/**
 * sfjit_rows_frame - the frame pointer was set to the stack pointer
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 *
 * It was saved before, by sfjit_rows_push(). From here on rows start from it.
 */
void sfjit_rows_frame(struct sfjit_rows *rows, uint32_t behind);

/**
 * sfjit_rows_leave - the stack pointer was set to the frame pointer, and that
 *		      was popped
 * @rows:	the rows so far
 * @behind:	offset behind the instruction
 */
void sfjit_rows_leave(struct sfjit_rows *rows, uint32_t behind);

/**
 * sfjit_rows_outermost - there is no caller from here on
 * @rows:	the rows so far
 * @behind:	offset of the first instruction for which this holds; 0 for the
 *		first function of a coroutine, of which it holds to the end
 *
 * Elsewhere sfjit_rows_restore() ends it.
 */
void sfjit_rows_outermost(struct sfjit_rows *rows, uint32_t behind);

/**
 * sfjit_rows_remember - keep what holds here
 * @rows:	the rows so far
 *
 * In front of an exit in the middle of a function: tell its pops, then
 * sfjit_rows_restore() at the first instruction behind it, where what was
 * remembered last holds again. Up to 8 can be remembered.
 */
void sfjit_rows_remember(struct sfjit_rows *rows);
void sfjit_rows_restore(struct sfjit_rows *rows, uint32_t behind);

/**
 * sfjit_rows_epilogue - an exit left the frame by one instruction
 * @rows:	the rows so far
 * @behind:	offset behind that instruction, which is in front of the return
 *
 * As sfjit_rows_remember(), and the state of a function that was just called.
 * sfjit_rows_restore() ends this.
 */
void sfjit_rows_epilogue(struct sfjit_rows *rows, uint32_t behind);

/**
 * sfjit_rows_function - the function that has these rows
 * @rows:	the rows, which can be used for another function after
 *		sfjit_rows_init()
 * @start:	first byte of the code
 * @size:	bytes of code. A row from here on is left out: one that was told
 *		behind the last instruction
 * @function:	filled; it points to the rows
 *
 * Return: 0; on failure @function is not changed.
 *   -EINVAL	@rows, @start or @function is NULL, @size is 0; an offset was less
 *		than one before, or a row other than the last is not inside of
 *		@size; a pop or restore without its push or remember; a move by
 *		no multiple of 8, or above the return address; a frame pointer
 *		that was set and not saved; a call that this machine has not.
 *   -ENOSPC	There were more than @max rows.
 *   -EOVERFLOW	More than 8 were remembered, or a frame of 2 GiB or more.
 */
int sfjit_rows_function(const struct sfjit_rows *rows, const void *start,
			size_t size, struct sfjit_function *function);

/* ---- Windows that own their section ----------------------------------- */

/* Code that is registered, with its section. */
struct sfjit_code;

/**
 * sfjit_register_functions - register functions by their rows
 * @functions:	as in sfjit_section_size()
 * @nr:		as in sfjit_section_size()
 * @code:	set to what sfjit_code_retire() takes
 *
 * The window is from the first byte of the first function to the last of the
 * last, with the address of the first as its key. The code is executable at
 * this time. The library allocates the section and keeps no reference to the
 * arguments.
 *
 * Return: 0, also where the kernel knows no SFrame windows; on failure nothing
 * is registered, and @code is not changed.
 *   -EINVAL	as sfjit_section_size() or sfjit_register(), or @code is NULL.
 *   -E2BIG, -ENOTSUP  as sfjit_section_size().
 *   -ENOMEM	No memory.
 *   -EBUSY, -EEXIST, -ENOSPC, -EINTR, -EOPNOTSUPP  as sfjit_register().
 */
int sfjit_register_functions(const struct sfjit_function *functions, size_t nr,
			     struct sfjit_code **code);

/* A range of code. */
struct sfjit_range {
	const void	*start;
	size_t		length;
};

/* Flags of sfjit_register_eh_frame(). */
#define SFJIT_GAPS_CALLED	0x1	/* gaps were just called, see there */

/**
 * sfjit_register_eh_frame - register code by its call frame information
 * @eh_frame:	bytes of .eh_frame, as they are given to __register_frame():
 *		relocated, and at the address that they are relocated for
 * @length:	bytes of it; what follows a zero terminator is not read
 * @text:	ranges of code: a window for each, with its first byte as the key
 * @nr:		number of ranges, at least 1
 * @flags:	SFJIT_GAPS_CALLED: code that no FDE is for, such as stubs that
 *		jump on, was just called and has not moved the stack pointer.
 *		Without it, walks end there. If the address of an FDE cannot be
 *		read, there are no gaps
 * @code:	set to what sfjit_code_retire() takes
 *
 * The code is executable at this time: an object is registered when it is final.
 * It is read, to tell padding between functions. FDEs outside of the range are
 * ignored. Functions whose CFI SFrame cannot express have no rows, and walks end
 * there. The library keeps no reference to the arguments; @eh_frame may be
 * freed. Malformed CFI makes no window and is not read beyond its end. Time is
 * O(n log n) for each range.
 *
 * Return: 0, also where the kernel knows no SFrame windows; on failure nothing
 * is registered, and @code is not changed.
 *   -EINVAL	@eh_frame, @text or @code is NULL; @length or @nr is 0; a range
 *		is empty or wraps around; @flags has others; @eh_frame is
 *		malformed; as sfjit_register().
 *   -ENOENT	A range has no function with rows: it is not that of @eh_frame,
 *		or this is not relocated yet.
 *   -E2BIG	A section would be larger than the format can express.
 *   -ENOMEM	No memory.
 *   -EBUSY, -EEXIST, -ENOSPC, -EINTR, -EOPNOTSUPP  as sfjit_register().
 */
int sfjit_register_eh_frame(const void *eh_frame, size_t length,
			    const struct sfjit_range *text, size_t nr,
			    unsigned int flags, struct sfjit_code **code);

/**
 * sfjit_code_retire - remove the windows of code, and free their section
 * @code:	code to retire; NULL does nothing
 *
 * Then wait until no thread runs the code, or returns to it, and unmap that.
 *
 * Return: 0. @code is gone in any case.
 *   -ENOENT	A window was gone already: its code was unmapped before.
 */
int sfjit_code_retire(struct sfjit_code *code);

/* ---- Sections as the kernel reads them --------------------------------- */

/*
 * For tests of an integration: on a kernel without windows every registration
 * succeeds, and a wrong section changes nothing. The calls read nothing but the
 * section, ask no kernel, allocate nothing and are async-signal-safe. Whether
 * rows are true only the code can tell.
 */

/* sfjit_table.flags */
#define SFJIT_TABLE_LIVE	0x1	/* of a live window */
#define SFJIT_TABLE_PLAIN	0x2	/* as a kernel without addends reads it */

/**
 * struct sfjit_table - a section and what it is registered for
 * @section:	as in sfjit_register()
 * @length:	as in sfjit_register()
 * @text:	as in sfjit_register()
 * @text_length: as in sfjit_register()
 * @flags:	SFJIT_TABLE_*
 * @bias:	as in sfjit_register_biased()
 */
struct sfjit_table {
	const void	*section;
	size_t		length;
	const void	*text;
	size_t		text_length;
	unsigned int	flags;
	uintptr_t	bias;
};

/**
 * struct sfjit_complaint - why a section is refused
 * @reason:	a constant string: in words why it is not registered, or as
 *		/proc/PID/sframe has it why a walk ends
 * @address:	of code where walks end; NULL when it is not registered
 */
struct sfjit_complaint {
	const char	*reason;
	const void	*address;
};

/**
 * sfjit_check - whether the kernel takes a section, and each row in it
 * @table:	section to check; it does not change meanwhile
 * @complaint:	NULL, or filled when the call fails for one of @table
 *
 * That the text is mapped executable, and no other window's, is not looked at.
 * Functions that overlap, or are not in the text, are refused as well, though
 * the kernel would not find out. An address that the section has no function
 * for is no mistake here: walks end there. Takes as many steps as the section
 * has rows, and more in functions of many rows.
 *
 * Return: 0.
 *   -EINVAL	@table is NULL, or sfjit_register() would return this.
 *   -EBADMSG	It would be registered, and walks end at an address of it.
 */
int sfjit_check(const struct sfjit_table *table,
		struct sfjit_complaint *complaint);

/**
 * sfjit_find_row - the row by which the kernel steps from an address
 * @table:	as in sfjit_check()
 * @ip:		address of an instruction; for that of a call, its return
 *		address less one
 * @function:	NULL, or filled with the function, without its rows
 * @row:	filled; its start is from the function's, or the block's. For a
 *		function with SFJIT_FUNCTION_SIGNAL and no rows, the return from
 *		a signal handler, what is filled in means nothing
 * @complaint:	as in sfjit_check()
 *
 * Return: 0; on failure nothing else is changed.
 *   -EINVAL	as sfjit_check(), or @row is NULL.
 *   -ENOENT	@ip is not in the text, or no function covers it.
 *   -EBADMSG	A walk ends there.
 */
int sfjit_find_row(const struct sfjit_table *table, const void *ip,
		   struct sfjit_function *function, struct sfjit_row *row,
		   struct sfjit_complaint *complaint);

/* ---- Live windows ---------------------------------------------------- */

/*
 * A window to which functions are added without a system call, for code that
 * is appended to an area. The library keeps the section and writes into it, the
 * kernel reads how many functions there are for each frame that it walks.
 *
 * Addresses ascend: a function lies behind all that were published before.
 * Nothing that was published changes, except for taking a function back. Code
 * whose addresses do not ascend needs an area, sfjit_area_create().
 *
 * Threads: calls with the same window must be made one at a time. The lock
 * under which a JIT gives out the addresses of its code serves this purpose,
 * since addresses have to be published in the order in which they are given
 * out. Calls with different windows may be made at the same time.
 *
 * fork is permitted at any time, also while another thread publishes: in the
 * child that function is published, or can be.
 *
 * On a kernel without live windows every call does the same to memory, and only
 * the stacks are shorter.
 */
struct sfjit_live;

/**
 * sfjit_live_create - make a live window without functions
 * @text:	first byte of the area for code; the key of the window
 * @length:	bytes of the area
 * @functions:	how many functions it has to take at least, at most 16777216;
 *		0: one for each 64 bytes of @length. One of more than 64 rows
 *		counts once for each 64
 * @rows:	how many rows they may have in all at least; 0: four for each
 *		function
 * @live:	set to the window, to be given to sfjit_live_retire()
 *
 * The area is mapped executable, all of it, at the time of the call; it may be
 * another mapping of the memory that the JIT writes to, and permissions may
 * change later. The section is address space for rows of the largest size, and
 * takes memory as it fills: 16 bytes for a function, 5 more and mostly 3 for
 * each row. After mlockall(MCL_FUTURE) all of it is locked memory from the
 * start; pass the numbers of functions and rows in that case. A window that
 * cannot be registered is no failure of this call; sfjit_live_stat() has the
 * error.
 *
 * Return: 0; on failure @live is not changed.
 *   -EINVAL	@live or @text is NULL, @length is 0, or the range wraps around.
 *   -E2BIG	More functions, or a section of more than 4 GiB.
 *   -ENOMEM	No memory, or the limit of mappings or of locked memory
 *		(RLIMIT_MEMLOCK) is reached.
 */
int sfjit_live_create(const void *text, size_t length, size_t functions,
		      size_t rows, struct sfjit_live **live);

/**
 * sfjit_live_publish - make a function walkable
 * @live:	window to add it to
 * @function:	function and rows, as in sfjit_section_size()
 *
 * Order: write the code, publish, let threads run it. A walk of a thread that
 * runs the function, on any CPU, then finds it counted and its rows whole, if
 * it can read the section. A deferred walk (perf's fp,defer) can: it faults in
 * missing pages. A walk in an NMI (perf's fp) cannot, and ends at the function
 * if a page it needs is not mapped at that moment: swapped out, being migrated,
 * marked for NUMA balancing, or being copied by the first publish after a fork,
 * which writes to it.
 *
 * The library keeps no reference to @function. One of more than 64 rows takes
 * an entry for each 64, which appear at once and are taken back by one call.
 *
 * No system call, no lock, no allocation, and async-signal-safe in a handler
 * that does not interrupt another call for @live. Memory of the section may be
 * touched for the first time.
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@live or @function is NULL; the function is not inside of the
 *		area, or it or a row breaks a rule of sfjit_section_size().
 *   -EEXIST	It starts in front of the end of one that was published before,
 *		even if that was taken back.
 *   -E2BIG	It repeats and has more than 64 rows.
 *   -ENOSPC	The section is full: sfjit_live_grow().
 *   -ENOTSUP	as sfjit_section_size().
 */
int sfjit_live_publish(struct sfjit_live *live,
		       const struct sfjit_function *function);

/**
 * sfjit_live_publish_eh_frame - make code walkable by its call frame information
 * @live:	window to add it to
 * @eh_frame:	as in sfjit_register_eh_frame()
 * @length:	as in sfjit_register_eh_frame()
 * @text:	the code, a range of the area
 * @flags:	as in sfjit_register_eh_frame()
 * @start:	NULL, or set to where its first function starts, which
 *		sfjit_live_withdraw() takes
 *
 * As sfjit_live_publish() for all functions of @text: they appear at once, and
 * one call takes all of them back. An entry of the section has up to 16 rows, of
 * one function or of several. The code is written, relocated and readable. What
 * sfjit_register_eh_frame() says of @eh_frame holds here, too. The next text
 * may begin where the last function ends.
 *
 * No system call and no lock of this library, but it allocates and is not
 * async-signal-safe. Time is O(n log n).
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@live, @eh_frame or @text is NULL; @length is 0; @text is empty
 *		or not inside of the area; @flags has others; @eh_frame is
 *		malformed.
 *   -EEXIST	@text starts in front of the end of a function that was published
 *		before, even if that was taken back.
 *   -ENOENT	No function of @text has rows: it is not that of @eh_frame, or
 *		this is not relocated yet.
 *   -ENOSPC	The section is full: sfjit_live_grow().
 *   -E2BIG	More than a section can express.
 *   -ENOMEM	No memory.
 *   -EOPNOTSUPP There is no such information on this machine.
 */
int sfjit_live_publish_eh_frame(struct sfjit_live *live, const void *eh_frame,
				size_t length, const struct sfjit_range *text,
				unsigned int flags, const void **start);

/**
 * sfjit_live_withdraw - take a function back
 * @live:	window it was published in
 * @start:	first byte of the function; or of the first of those that
 *		sfjit_live_publish_eh_frame() published together
 *
 * Walks that reach it from now on end there. Its entry and rows stay as they
 * are, but for a size of 0, until sfjit_live_grow() makes a section without
 * them. Time is O(log n), and the rest as for sfjit_live_publish().
 *
 * Order: wait until no thread runs it or returns to it, withdraw, then reuse
 * its memory, for data or code. No function can be published there before
 * sfjit_live_grow(), and stacks end in code of the area that is not published.
 *
 * Return: 0.
 *   -EINVAL	@live is NULL.
 *   -ENOENT	No function that is published starts there.
 */
int sfjit_live_withdraw(struct sfjit_live *live, const void *start);

/**
 * sfjit_live_grow - give a window a new section
 * @live:	window to change
 * @text:	NULL: the area stays; else the new one, which equals or contains
 *		the old
 * @length:	bytes of the new area; 0 with @text NULL
 * @functions:	how many more functions it has to take; 0: as many again as the
 *		section was made for
 * @rows:	how many more rows; 0: as much space again as there is
 *
 * The functions are copied into a larger section, without those that were taken
 * back: their entries, and text behind the last remaining function, are free
 * again. Then the section is replaced as by sfjit_replace(). Two system calls
 * to map, one to register, one to unmap; time is O(n).
 *
 * A window that could not be registered is registered again.
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@live is NULL; the new area does not contain the old one, or is
 *		not mapped executable.
 *   -E2BIG, -ENOMEM  as sfjit_live_create().
 *   -EEXIST	The new area overlaps another window.
 *   -EINTR	A fatal signal is pending.
 */
int sfjit_live_grow(struct sfjit_live *live, const void *text, size_t length,
		    size_t functions, size_t rows);

/**
 * sfjit_live_reset - take back all functions of a window
 * @live:	window to empty
 *
 * Walks that reach code of the area from now on end there. All of the section
 * and of the area is free again: the next function may be published anywhere.
 * Time is O(1), and the rest as for sfjit_live_publish().
 *
 * Order: wait until no thread runs code of the area or returns to it, reset,
 * then reuse the memory.
 *
 * Return: 0.
 *   -EINVAL	@live is NULL.
 */
int sfjit_live_reset(struct sfjit_live *live);

/**
 * sfjit_live_retire - remove a window and free its section
 * @live:	window to retire; NULL does nothing
 *
 * Then wait until no thread runs code of the area, or returns to it, and unmap
 * that.
 *
 * Return: 0. @live is gone in any case.
 *   -ENOMEM	The limit of mappings kept the section from being unmapped.
 */
int sfjit_live_retire(struct sfjit_live *live);

/**
 * struct sfjit_live_info - what sfjit_live_stat() fills
 * @section:	SFrame section, valid until the window grows or goes
 * @length:	bytes of it
 * @room:	bytes that are left for rows
 * @functions:	entries of functions published, with those taken back; one for
 *		each 64 rows of a function
 * @withdrawn:	entries taken back
 * @capacity:	most entries
 * @error:	-errno of the registration, as sfjit_register(); 0 where the
 *		kernel knows no windows; -EOPNOTSUPP where it knows windows, but
 *		no live ones
 */
struct sfjit_live_info {
	const void	*section;
	size_t		length;
	size_t		room;
	unsigned int	functions;
	unsigned int	withdrawn;
	unsigned int	capacity;
	int		error;
};

/**
 * sfjit_live_stat - look at a live window
 * @live:	window to look at
 * @stat:	filled
 *
 * Return: 0.
 *   -EINVAL	@live or @stat is NULL.
 */
int sfjit_live_stat(const struct sfjit_live *live,
		    struct sfjit_live_info *stat);

/* ---- Areas in any order ---------------------------------------------- */

/*
 * A window in which functions are published and taken back in any order, also
 * by several threads at once: for free lists, for areas that are filled
 * downwards, for compilers that finish in another order than they began. No
 * call for a function is a system call.
 *
 * The area is divided into granules of 16, 32 or 64 bytes, and no two functions
 * may start in the same one. Each has an entry in the section, so that this is
 * larger than that of a live window, and does not grow.
 *
 * Threads: calls for functions that do not overlap may be made at the same
 * time. There is nothing to reserve: take the addresses from your allocator,
 * emit and relocate, publish when it is done.
 *
 * fork is permitted at any time. In the child, a function that another thread
 * was publishing or taking back can be taken back (again), unless that returns
 * -ENOENT, and published; until then walks end in it, and sfjit_check() may
 * complain of "fde_order".
 */
struct sfjit_area;

/**
 * sfjit_area_create - make an area without functions
 * @text:	first byte of the area, a multiple of @granule; the key of the
 *		window
 * @length:	bytes of the area, at most 16777216 granules
 * @granule:	16, 32 or 64; 0: 64
 * @rows:	rows that a function may have for each granule in which it lies,
 *		at most 1024; 0: 14. A row is counted as 4 bytes; most have 3
 * @area:	set to the area, to be given to sfjit_area_retire()
 *
 * The area is mapped executable as for sfjit_live_create(). The section takes
 * 16 bytes of memory for each granule at once, and other memory as functions
 * are published. A window that cannot be registered is no failure of this call;
 * sfjit_area_stat() has the error.
 *
 * Return: 0; on failure @area is not changed.
 *   -EINVAL	@area or @text is NULL, @length is 0, the range wraps around,
 *		@granule is none of these, or @text is no multiple of it.
 *   -E2BIG	More granules or rows, or a section of more than 4 GiB.
 *   -ENOMEM	No memory, or the limit of mappings or of locked memory
 *		(RLIMIT_MEMLOCK) is reached.
 */
int sfjit_area_create(const void *text, size_t length, unsigned int granule,
		      unsigned int rows, struct sfjit_area **area);

/**
 * sfjit_area_publish - make a function walkable
 * @area:	area it lies in
 * @function:	function and rows, as in sfjit_section_size()
 *
 * As sfjit_live_publish(), in any order. A walk that looks for another function
 * finds it; very rarely, when two entries that it looks at change meanwhile, it
 * ends there. Time is that of its rows and of its granules.
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@area or @function is NULL; the function is not inside of the
 *		area, or it or a row breaks a rule of sfjit_section_size().
 *   -EEXIST	It overlaps a function that is published, or one starts in the
 *		granule in which it starts; or it has more than 64 rows, and one
 *		starts in the granule in which it ends.
 *   -E2BIG	It has more rows than there is space for, or repeats and has more
 *		than 64 rows.
 *   -ENOTSUP	as sfjit_section_size().
 */
int sfjit_area_publish(struct sfjit_area *area,
		       const struct sfjit_function *function);

/**
 * sfjit_area_withdraw - take a function back
 * @area:	area it was published in
 * @start:	first byte of the function
 *
 * Order: wait until no thread runs it or returns to it, withdraw, then reuse
 * its memory. Another function can be published there at once. No system call,
 * no lock, no allocation, as for sfjit_area_publish().
 *
 * Return: 0.
 *   -EINVAL	@area is NULL.
 *   -ENOENT	No function that is published starts there.
 */
int sfjit_area_withdraw(struct sfjit_area *area, const void *start);

/**
 * sfjit_area_reset - take back all functions of a range
 * @area:	area they were published in
 * @start:	first byte of the range; NULL for the whole area
 * @length:	bytes; 0 for the whole area
 *
 * As sfjit_area_withdraw() for each function that starts in the range. Time is
 * that of its granules.
 *
 * Return: 0.
 *   -EINVAL	@area is NULL, one of @start and @length is 0, or the range is
 *		not inside of the area.
 */
int sfjit_area_reset(struct sfjit_area *area, const void *start, size_t length);

/**
 * sfjit_area_retire - remove an area's window and free its section
 * @area:	area to retire; NULL does nothing
 *
 * As sfjit_live_retire().
 *
 * Return: 0. @area is gone in any case.
 *   -ENOMEM	The limit of mappings kept the section from being unmapped.
 */
int sfjit_area_retire(struct sfjit_area *area);

/**
 * struct sfjit_area_info - what sfjit_area_stat() fills
 * @section:	SFrame section, valid until the area is retired
 * @length:	bytes of it
 * @granules:	number of granules
 * @functions:	functions that are published
 * @error:	as in struct sfjit_live_info
 */
struct sfjit_area_info {
	const void	*section;
	size_t		length;
	unsigned int	granules;
	unsigned int	functions;
	int		error;
};

/**
 * sfjit_area_stat - look at an area
 * @area:	area to look at
 * @stat:	filled; time is that of the granules
 *
 * Return: 0.
 *   -EINVAL	@area or @stat is NULL.
 */
int sfjit_area_stat(const struct sfjit_area *area,
		    struct sfjit_area_info *stat);

/* ---- Windows that are used again ------------------------------------- */

/*
 * An area of several windows: the JIT fills one, copies what lives into the
 * next, and leaves the first to be used again. Rows stay published until no
 * thread can be in the code or return to it; then they are withdrawn, and the
 * window is wiped. So no sample goes through rows of code that is not there.
 *
 * Functions are published by sfjit_area_publish(), each inside of one window.
 * The life of a window is
 *
 *	sfjit_epoch_begin()	it is free, and now the caller's to fill
 *	sfjit_epoch_unlink()	nothing leads to its code any more
 *	sfjit_epoch_reclaim()	or sfjit_epoch_scan(): it is free again
 *
 * "Nothing leads to it" means that there is no address of it, or from which it
 * is computed, in memory that any thread may read from now on: neither in
 * tables, other code, objects, timers and handlers of signals, nor in variables
 * of threads. What may still be are the registers and stacks of threads that
 * took an address before: code that runs, return addresses, and pointers that
 * are about to be called. Threads do not store these anywhere else. There are
 * two ways to find out when they are gone:
 *
 * Quiescence: each thread that runs code joins, and says from time to time that
 * it holds no address: sfjit_epoch_quiescent(). A thread that does not say so
 * keeps all windows that were unlinked since.
 *
 * Scan: all threads of the process are stopped by a signal, and windows are kept
 * if any word of registers or stacks is an address of theirs. For programs whose
 * threads never leave the code, or are not known.
 *
 * Threads: calls with the same epoch may be made at the same time, those with
 * the same thread's handle by that thread only.
 *
 * fork is permitted at any time. In the child, other threads' handles are
 * offline, and belong to nobody. If the memory of the code is shared with the
 * child (MAP_SHARED), only one of the processes may use windows again.
 */
struct sfjit_epoch;
struct sfjit_epoch_thread;

/**
 * sfjit_epoch_create - divide an area into windows
 * @area:	area without functions, which has to live longer
 * @windows:	number of windows of equal size, at least 2 and at most 65536
 * @writable:	where the first byte of the area can be written, which may be its
 *		text, or another mapping; NULL: windows are not wiped
 * @epoch:	set to what sfjit_epoch_retire() takes
 *
 * All windows are free. The area's number of bytes is a multiple of @windows
 * granules.
 *
 * Return: 0; on failure @epoch is not changed.
 *   -EINVAL	@area or @epoch is NULL; fewer than 2 windows, or they are no
 *		multiple of a granule.
 *   -E2BIG	More windows.
 *   -EBUSY	There is one for this area.
 *   -ENOMEM	No memory.
 */
int sfjit_epoch_create(struct sfjit_area *area, unsigned int windows,
		       void *writable, struct sfjit_epoch **epoch);

/**
 * sfjit_epoch_begin - take a free window
 * @epoch:	epoch to take it from
 * @text:	set to its range
 *
 * The one that was free for the longest time is first.
 *
 * Return: number of the window, from 0 on; on failure @text is not changed.
 *   -EINVAL	@epoch or @text is NULL.
 *   -EAGAIN	No window is free: reclaim, or scan, and try again later.
 */
int sfjit_epoch_begin(struct sfjit_epoch *epoch, struct sfjit_range *text);

/**
 * sfjit_epoch_unlink - say that nothing leads to a window any more
 * @epoch:	epoch it was taken from
 * @window:	its number
 *
 * Before this call the last address of the code was taken out of memory, see
 * above. Its functions stay published, and threads may still run them.
 *
 * Return: 0; on failure nothing has changed.
 *   -EINVAL	@epoch is NULL, or has no such window.
 *   -ENOENT	It was not begun, or is unlinked already.
 *   -EEXIST	A function of it reaches into another window, or one of another
 *		into it.
 */
int sfjit_epoch_unlink(struct sfjit_epoch *epoch, unsigned int window);

/**
 * sfjit_epoch_join - a thread is waited for, from now on
 * @epoch:	epoch whose code it is going to run
 * @thread:	set to the handle of the calling thread
 *
 * Called by the thread itself, before it takes an address of code. It is online.
 *
 * Return: 0; on failure @thread is not changed.
 *   -EINVAL	@epoch or @thread is NULL.
 *   -ENOMEM	No memory.
 */
int sfjit_epoch_join(struct sfjit_epoch *epoch,
		     struct sfjit_epoch_thread **thread);

/**
 * sfjit_epoch_leave - a thread is not waited for any more
 * @thread:	handle; NULL does nothing
 *
 * It holds no address of code. Before the thread ends: windows are kept for a
 * thread that ended and did not leave.
 *
 * Return: 0. @thread is gone.
 */
int sfjit_epoch_leave(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_quiescent - a thread holds no address of code
 * @thread:	handle of the calling thread
 *
 * No code of the area is on its stack, and it takes each address that it uses
 * from now on out of memory again. Does nothing if the thread is offline. No
 * system call, no lock, no allocation, and async-signal-safe: two loads, and a
 * store if a window was unlinked since the last call.
 *
 * Return: 0.
 *   -EINVAL	@thread is NULL.
 */
int sfjit_epoch_quiescent(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_offline - a thread holds no address of code until it is online
 * @thread:	handle of the calling thread
 *
 * Around calls that may wait for long. While a thread is offline, it is not
 * waited for. Costs are as for sfjit_epoch_quiescent(), and a fence.
 *
 * Return: 0.
 *   -EINVAL	@thread is NULL.
 */
int sfjit_epoch_offline(struct sfjit_epoch_thread *thread);
int sfjit_epoch_online(struct sfjit_epoch_thread *thread);

/**
 * sfjit_epoch_reclaim - free the windows that all threads have left behind
 * @epoch:	epoch to look at
 *
 * A window is free if each thread that has joined was quiescent, or offline,
 * since it was unlinked. Its functions are taken back, as by sfjit_area_reset(),
 * their names are dropped, as by sfjit_names_drop(), and it is filled with
 * instructions that raise SIGTRAP, on other machines than x86-64 SIGILL, in this
 * order. Waits for nobody. Threads that did not join are not looked at.
 *
 * Return: how many windows became free.
 *   -EINVAL	@epoch is NULL.
 */
int sfjit_epoch_reclaim(struct sfjit_epoch *epoch);

/**
 * sfjit_epoch_scan - free the windows that no register and no stack refers to
 * @epoch:	epoch to look at
 * @signal:	a signal that the program has no other use for, such as
 *		SIGRTMIN + 5
 * @timeout_ms:	how long threads may take to stop, and to be read
 * @stacks:	other stacks than those of threads, such as of coroutines, whether
 *		a thread runs on them or not; NULL: none
 * @nr:		number of them
 *
 * All threads of the process are stopped by the signal, and go on when their
 * stacks have been read. Where any word is an address of a window, or that of
 * its end, the window is kept until a later scan. Words may be at any address;
 * below 4 GiB they are also those of 32 bits. The caller's own stack counts, so
 * that an address in a variable of the caller keeps a window. Others become free
 * as by sfjit_epoch_reclaim(). Threads need not join. If no window is unlinked
 * nothing is done.
 *
 * All windows are kept, and sfjit_epoch_stat() says why, if
 *
 * - a thread did not stop in time, as it blocks the signal or waits in a system
 *   call that no signal interrupts (what cannot be restarted returns EINTR).
 *   Workers of io_uring(7) block all signals;
 * - the end of the stack on which a thread runs is not known. It is known for
 *   threads of the C library, where nothing is unmapped or unreadable up to it,
 *   and for @stacks. It is not while a handler runs on an alternate stack, and
 *   for threads by clone() that share the C library's data of another.
 *
 * Stacks that nobody runs on and that are not in @stacks, and those that a
 * compiler adds (safe stacks, fake stacks of sanitizers), are not read. The
 * handler is installed at the first call, with SA_RESTART and SA_ONSTACK, and
 * stays. The calling thread blocks all signals meanwhile.
 *
 * Return: how many windows became free.
 *   -EINVAL	@epoch is NULL; @signal can have no handler; a range is empty or
 *		wraps around, or one of @stacks and @nr is 0.
 *   -EBUSY	The signal has another handler, or is ignored; or another thread
 *		scans.
 *   -ENOMEM	No memory.
 *   other	The errors of open(2), of /proc/self/task.
 */
int sfjit_epoch_scan(struct sfjit_epoch *epoch, int signal,
		     unsigned int timeout_ms, const struct sfjit_range *stacks,
		     size_t nr);

/**
 * sfjit_epoch_retire - free an epoch and the handles of its threads
 * @epoch:	epoch to retire; NULL does nothing
 *
 * The area, with what is published in it, stays.
 *
 * Return: 0. @epoch is gone.
 */
int sfjit_epoch_retire(struct sfjit_epoch *epoch);

/**
 * struct sfjit_epoch_info - what sfjit_epoch_stat() fills
 * @size:	bytes of a window
 * @windows:	number of windows
 * @free:	of these, free
 * @in_use:	begun, and not unlinked
 * @unlinked:	unlinked, and not free yet
 * @online:	threads that are joined and not offline
 * @unanswered:	threads that did not stop for the last scan
 * @unknown:	threads, or stacks that were given, of which the last scan could
 *		not read all
 */
struct sfjit_epoch_info {
	size_t		size;
	unsigned int	windows;
	unsigned int	free;
	unsigned int	in_use;
	unsigned int	unlinked;
	unsigned int	online;
	unsigned int	unanswered;
	unsigned int	unknown;
};

/**
 * sfjit_epoch_stat - look at an epoch
 * @epoch:	epoch to look at
 * @stat:	filled
 *
 * Return: 0.
 *   -EINVAL	@epoch or @stat is NULL.
 */
int sfjit_epoch_stat(const struct sfjit_epoch *epoch,
		     struct sfjit_epoch_info *stat);

/* ---- The program's own files ------------------------------------------ */

/**
 * sfjit_cover_modules - register the program, its libraries and the vDSO
 * @flags:	0
 *
 * Generated code is only a part of a stack: most programs and libraries have no
 * frame pointers either. This does from inside what `sfjit run' does, and does
 * nothing again under `sfjit run'. It loads the module of that command,
 * libsfjit-preload.so, from beside this library, from sfjit, ../sfjit or
 * ../lib/sfjit there, or from where ld.so looks. The module makes a table of
 * each .eh_frame, or takes it from the cache in ~/.cache/sfjit, and stays
 * loaded. SFJIT_VERBOSE and SFJIT_LOG of sfjit(1) hold.
 *
 * Libraries that dlopen() brings later are registered before any of their code
 * runs if this is called while the process has one thread, best first in
 * main(); otherwise when it is called again. dlclose() needs nothing. Code that
 * is given to __register_frame() is not taken: register it yourself.
 *
 * Not under a lock that dlopen() of this program's constructors would take.
 *
 * Return: 0, also where the kernel knows no SFrame windows. What single files
 * have no windows, SFJIT_VERBOSE=1 tells.
 *   -EINVAL	@flags is not 0.
 *   -ENOENT	The module was not found, or cannot be loaded.
 *   -ENOTSUP	The program is statically linked.
 *   -EPERM	A seccomp filter was installed since the first call.
 */
int sfjit_cover_modules(unsigned int flags);

/* ---- Pools of trampolines -------------------------------------------- */

/*
 * Kinds of trampoline. Each is a C function that calls a target and returns
 * what it returned, with a frame of its own in every stack and without frame
 * pointer. Arguments are passed through in registers; none may be on the
 * stack: at most six integer arguments (five for ARG and RBP) and eight
 * floating-point ones. Results of any class are passed through, variable
 * arguments too.
 *
 * ARG	the target is the sixth integer argument of the call; on s390x, which
 *	passes five in registers, the fifth
 * SLOT	the target was given to sfjit_tramp_get(); signature unchanged
 * RBP	as ARG, and rbp holds no frame address during the call, as in code
 *	that uses it as a general register; elsewhere the frame pointer: x29,
 *	s0, r31, r11
 * SIGNED_A, SIGNED_B  AArch64: as SLOT, with a return address that is signed by
 *	the A or B key where the processor does that. The kernel does not walk
 *	through them
 */
#define SFJIT_TRAMP_ARG		0
#define SFJIT_TRAMP_SLOT	1
#define SFJIT_TRAMP_RBP		2
#define SFJIT_TRAMP_SIGNED_A	3
#define SFJIT_TRAMP_SIGNED_B	4

/* Opaque: windows of trampolines of one kind, 4096 or, not on x86-64, less. */
struct sfjit_pool;

/**
 * sfjit_pool_create - make a pool
 * @kind:	SFJIT_TRAMP_*
 * @pool:	set to the pool, to be given to sfjit_pool_retire()
 *
 * The first window is mapped and registered here. A window is 64 KiB of code,
 * all of its trampolines written at once before the memory becomes executable
 * (no mapping is ever writable and executable), for SLOT 64 KiB of data, and
 * one page for its section. A window that cannot be registered is used
 * nevertheless; sfjit_pool_stat() has the error. That is -EOPNOTSUPP on machines
 * that SFrame has no number for (RISC-V, PowerPC): there trampolines have names,
 * and no section.
 *
 * Return: 0; on failure @pool is not changed.
 *   -EINVAL	@kind is none of the above, or @pool is NULL.
 *   -EOPNOTSUPP  This machine does not have @kind.
 *   -ENOMEM	No memory, or the limit of mappings or of locked memory
 *		(RLIMIT_MEMLOCK) is reached.
 *   -EACCES, -EPERM  The system does not permit executable memory.
 */
int sfjit_pool_create(unsigned int kind, struct sfjit_pool **pool);

/**
 * sfjit_pool_retire - remove all windows of a pool
 * @pool:	pool to retire; NULL does nothing
 *
 * Each window is unregistered first, then unmapped. No thread may be inside a
 * trampoline, or return through one later, or use @pool in another call. Names
 * stay in the perf map file.
 *
 * Return: 0. @pool is gone in any case.
 *   -ENOMEM	The limit of mappings kept a window from being unmapped.
 */
int sfjit_pool_retire(struct sfjit_pool *pool);

/**
 * sfjit_tramp_get - get a trampoline
 * @pool:	pool to take it from; it grows as needed
 * @target:	SLOT: function to call, not NULL. ARG and RBP: not used by the
 *		code; part of the identity, may be NULL
 * @name:	symbol for profilers, written to the perf map, and to what
 *		sfjit_names_open() chose; NULL for none
 * @entry:	set to the first byte of the trampoline; cast it to the type of
 *		the target's function
 *
 * The same @target and @name give the same trampoline again, and as many calls
 * of sfjit_tramp_put() are needed. @name is copied. A name that could not be
 * written to the perf map is not an error.
 *
 * Return: 0; on failure @entry is not changed.
 *   -EINVAL	@pool or @entry is NULL; SLOT and @target is NULL.
 *   -ENOMEM, -EACCES, -EPERM  as sfjit_pool_create(): no further window.
 *   -EOVERFLOW	Got more than 4294967295 times without put.
 */
int sfjit_tramp_get(struct sfjit_pool *pool, const void *target,
		    const char *name, void **entry);

/**
 * sfjit_tramp_put - give back a trampoline
 * @pool:	pool it came from
 * @entry:	as set by sfjit_tramp_get()
 *
 * After the last put no thread may be inside the trampoline. It is reused only
 * when no window has a trampoline left that was never used, the longest unused
 * one first: a line of the perf map cannot be taken back, and profilers may
 * show the old name or the new one. A free SLOT calls address 0.
 *
 * Return: 0.
 *   -EINVAL	@pool is NULL, or @entry is no trampoline of @pool.
 *   -ENOENT	@entry is not in use.
 */
int sfjit_tramp_put(struct sfjit_pool *pool, void *entry);

/**
 * struct sfjit_pool_info - what sfjit_pool_stat() fills
 * @windows:	windows mapped
 * @registered:	windows that were registered without error; where the kernel
 *		knows no SFrame windows that is all of them
 * @used:	trampolines in use
 * @error:	-errno of the last failed registration, 0 if none failed
 */
struct sfjit_pool_info {
	unsigned int	windows;
	unsigned int	registered;
	unsigned int	used;
	int		error;
};

/**
 * sfjit_pool_stat - look at a pool
 * @pool:	pool to look at
 * @stat:	filled
 *
 * Return: 0.
 *   -EINVAL	@pool or @stat is NULL.
 */
int sfjit_pool_stat(const struct sfjit_pool *pool,
		    struct sfjit_pool_info *stat);

/* ---- Names for profilers --------------------------------------------- */

/**
 * sfjit_perf_map_name - write a line to the perf map of this process
 * @start:	first byte of the code
 * @length:	bytes of code, not 0
 * @name:	symbol, not empty; copied. Control characters become '?', what
 *		exceeds 4000 bytes is cut off. perf ignores names of fewer than
 *		three bytes
 *
 * The file is /tmp/perf-PID.map. It is opened for each line, which is one
 * write(2), so that several producers can share it and no file descriptor
 * stays open. A file that is older than the process, left by another one with
 * its number, is emptied first. The first line that a forked child writes is
 * preceded by what this library and others had written up to the parent's last
 * line before the fork.
 *
 * Return: 0. Most callers ignore errors.
 *   -EINVAL	@length is 0, the range wraps around, @name is NULL or empty.
 *   -EPERM	The file belongs to another user or is not a regular file.
 *   -ELOOP	The file is a symbolic link.
 *   -ENOMEM	There was no memory for atfork handlers when the library was
 *		loaded.
 *   other	The errors of open(2) and write(2).
 */
int sfjit_perf_map_name(const void *start, size_t length, const char *name);

/**
 * sfjit_perf_map_sync - write a forked child's inherited names now
 *
 * For a child that gives no names itself but is profiled separately, as by
 * perf record -p. Does nothing without inherited names.
 *
 * Return: as sfjit_perf_map_name().
 */
int sfjit_perf_map_sync(void);

/* ---- Names with time ------------------------------------------------- */

/*
 * For code whose addresses are used again: a line of the perf map holds for all
 * of a profile, these from the time of the call on. Which to write is the
 * user's choice, who has to look at them as well:
 *
 * MAP	/tmp/perf-PID.map, as by sfjit_perf_map_name(). perf looks there for
 *	addresses in anonymous memory only: of MAP_PRIVATE or MAP_SHARED with
 *	MAP_ANONYMOUS, or of /dev/zero. Of code in a memfd or another file it
 *	takes the symbols of that file, which has none
 * LOG	/tmp/sfjit-PID.names, for readers that know the time of a sample. Lines
 *		load TIME START SIZE NAME
 *		drop TIME START SIZE
 *	TIME is nanoseconds of CLOCK_MONOTONIC in decimal, START and SIZE are
 *	hexadecimal. An address has the name of the last load that covers it and
 *	is not after the sample, unless a drop that covers it came in between
 * JITDUMP DIR/jit-PID.dump, perf's jitdump, with the code and, as .eh_frame,
 *	the rows. For `perf record -k mono' and then `perf inject --jit'. Works
 *	for any mapping, memfds too, and makes --call-graph=dwarf unwind the
 *	code on any kernel. DIR/jit-PID.retired beside it has what was dropped,
 *	which perf has no record for: sfjit inject and sfjit record read it.
 *	It begins with the same 40 bytes, then there are for each drop its time,
 *	start and size, of 8 bytes each
 *
 * Times of the same code are right if a name is loaded before the code can run,
 * and dropped when it does not run any more.
 */
#define SFJIT_NAMES_MAP		0x1
#define SFJIT_NAMES_LOG		0x2
#define SFJIT_NAMES_JITDUMP	0x4

/**
 * sfjit_names_open - choose where names go from now on
 * @what:	SFJIT_NAMES_*, in addition to what was chosen before
 * @dir:	JITDUMP: directory of the files, copied; NULL: /tmp. perf inject
 *		writes a file for each function there, and a perf that unwinds
 *		by libdw (Debian 13's) unwinds code of files in /tmp only.
 *		Ignored if there is a jitdump, and otherwise
 *
 * A jitdump is made here, and a page of it stays mapped executable, by which
 * perf record learns of it: the file system may not be mounted noexec, and
 * perf has to record already. No file descriptor stays open. A forked child
 * inherits the choice and makes files of its own with the first name it loads:
 * MAP and LOG begin with the lines of the parent, perf itself knows of the
 * jitdump's.
 *
 * Return: 0; on failure nothing was chosen.
 *   -EINVAL	@what is 0 or has unknown bits.
 *   -ENAMETOOLONG  @dir is too long.
 *   -EPERM	The file belongs to another user or is not a regular file; or
 *		the file system is mounted noexec.
 *   -ELOOP	The file is a symbolic link.
 *   -ENOMEM	There was no memory for atfork handlers when the library was
 *		loaded, or to map the page.
 *   other	The errors of open(2), write(2) and mmap(2).
 */
int sfjit_names_open(unsigned int what, const char *dir);

/**
 * sfjit_names_close - write no names from now on
 *
 * Ends the jitdump. Files stay.
 *
 * Return: 0; names are closed in any case.
 *   other	The errors of open(2) and write(2).
 */
int sfjit_names_close(void);

/**
 * sfjit_names_load - name code, from now on
 * @function:	function and rows, as published; its code is read for a jitdump
 * @room:	bytes behind the function that nothing else will use, see
 *		sfjit_names_room(); 0 if in doubt
 * @name:	as in sfjit_perf_map_name()
 *
 * When names are not open it does nothing, for one load. Otherwise it takes
 * the library's lock and some system calls for each file.
 *
 * Return: 0. Most callers ignore errors. A file that failed does not keep the
 * others from being written; the first error is returned.
 *   -EINVAL	@name is NULL or empty; @function breaks a rule of
 *		sfjit_section_size().
 *   -E2BIG	Its code is larger than a record of a jitdump; it has too many
 *		rows.
 *   -ENOMEM	No memory for a record.
 *   other	The errors of sfjit_perf_map_name() and sfjit_names_open().
 */
int sfjit_names_load(const struct sfjit_function *function, size_t room,
		     const char *name);

/**
 * sfjit_names_drop - code has no name from now on
 * @start:	first byte
 * @length:	bytes; names that it covers in part are dropped there
 *
 * Call it when no thread runs the code any more. It is written to the log, and
 * to the file beside a jitdump. Code that is loaded at the same place replaces
 * an old name without this; but what is written there and not loaded would be
 * taken for the old code, with its rows. sfjit_pool_retire() and
 * sfjit_epoch_reclaim() do it themselves; windows that end do not, since code
 * may have another one.
 *
 * Return: 0.
 *   -EINVAL	@length is 0, or the range wraps around.
 *   other	The errors of sfjit_perf_map_name().
 */
int sfjit_names_drop(const void *start, size_t length);

/**
 * sfjit_names_room - bytes behind a function that perf's unwinder needs
 * @function:	function and rows
 *
 * `perf inject --jit' maps .eh_frame behind the code, and a perf that unwinds by
 * libunwind (Debian 12's) finds it there only. With less @room in
 * sfjit_names_load() names are right, and only a perf that unwinds by libdw
 * unwinds the code with --call-graph=dwarf. It takes the rows of the first code
 * at an address for those of later code that starts there, too. Stacks of
 * --call-graph=fp do not depend on it. A JIT that spaces functions so only when
 * JITDUMP is chosen has no cost otherwise.
 *
 * Return: the number of bytes, about 100 and a few for each row.
 *   -EINVAL	@function breaks a rule of sfjit_section_size().
 *   -E2BIG	It has too many rows, or over 2 GiB.
 *   -ENOTSUP	There is no such information on this machine.
 */
long sfjit_names_room(const struct sfjit_function *function);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_H */
