/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_ROW_BUILDER_H
#define SFJIT_ROW_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include <sfjit/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: sfjit_rows - make the rows of a function while you emit its code
 *
 * Begin with sfjit_rows_init(): the function was just called. Then, in the
 * order of the addresses, report each instruction that changes the stack
 * pointer or the frame pointer. @offset is where the instruction ends, in bytes
 * from the start of the function: the offset that your emitter has after it
 * emitted the instruction. End with sfjit_rows_function(), the only call that
 * returns an error: the first one since sfjit_rows_init().
 *
 * Several instructions that end at one offset make one row. An instruction that
 * changes nothing in a row makes none.
 *
 * On machines whose calls leave the return address in a register (AArch64,
 * RISC-V, Power, s390x), sfjit_rows_saved_ra() reports where it is stored.
 * These machines have no push: report an instruction that stores registers and
 * moves the stack pointer by sfjit_rows_adjust(), sfjit_rows_saved() and
 * sfjit_rows_saved_ra(), all with the same @offset. On s390x the CFA is 160
 * bytes above the stack pointer at function entry, so registers in the caller's
 * save area are less than 160 bytes below the CFA.
 *
 * These calls allocate nothing, take no lock, and are async-signal-safe. There
 * is nothing to free. Make the calls for one struct sfjit_rows one at a time.
 * userspace/examples/rows_jit.c is a complete program.
 */

/* How many states sfjit_rows_remember() can hold. */
#define SFJIT_ROWS_REMEMBERED	8

/* Private: the stack frame at one place of the code. */
struct sfjit_rows_state {
	int32_t		depth;	/* bytes from the stack pointer to the CFA */
	int32_t		frame;	/* from the frame pointer to it; 0: not used */
	int32_t		saved;	/* from the caller's saved one to it; 0: none */
	int32_t		ra;	/* from the return address; 0: in a register */
	int32_t		outermost;
};

/**
 * struct sfjit_rows - the rows of the function that you emit
 * @rows:	your array, filled from its start
 * @max:	number of rows that it has space for
 * @nr:		number of rows in use
 * @error:	0, or what sfjit_rows_function() will return
 *
 * The other members are private.
 */
struct sfjit_rows {
	struct sfjit_row	*rows;
	uint32_t		max;
	uint32_t		nr;
	int			error;
	/* private: */
	uint32_t		nr_remembered;
	struct sfjit_rows_state	now;
	struct sfjit_rows_state	remembered[SFJIT_ROWS_REMEMBERED];
};

/**
 * sfjit_rows_init - begin a function with the row at its entry
 * @rows:	filled
 * @array:	space for rows, which stays yours; one for each reported change
 *		of the stack is enough
 * @max:	number of rows in @array
 */
void sfjit_rows_init(struct sfjit_rows *rows, struct sfjit_row *array,
		     uint32_t max);

/**
 * sfjit_rows_push - report that a register was pushed
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 * @reg:	its DWARF number; only the frame pointer's matters, and must be
 *		right
 *
 * For machines whose calls store the return address on the stack: x86-64.
 */
void sfjit_rows_push(struct sfjit_rows *rows, uint32_t offset,
		     unsigned int reg);

/**
 * sfjit_rows_pop - report that a register was popped
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 * @reg:	as in sfjit_rows_push()
 *
 * After a pop of the frame pointer, rows start from the stack pointer again. If
 * the stack pointer was moved by an unknown amount, call sfjit_rows_depth()
 * first. For x86-64 only.
 */
void sfjit_rows_pop(struct sfjit_rows *rows, uint32_t offset,
		    unsigned int reg);

/**
 * sfjit_rows_adjust - report that the stack pointer was moved
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 * @bytes:	by how much the frame grew: 32 for a subtraction of 32 from the
 *		stack pointer, -32 for an addition
 */
void sfjit_rows_adjust(struct sfjit_rows *rows, uint32_t offset,
		       int32_t bytes);

/**
 * sfjit_rows_depth - report that the stack pointer was set
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 * @bytes:	from the stack pointer to the CFA
 *
 * For an instruction like "lea -24(rbp), rsp". An alloca() needs no call: rows
 * start from the frame pointer there.
 */
void sfjit_rows_depth(struct sfjit_rows *rows, uint32_t offset, int32_t bytes);

/**
 * sfjit_rows_saved - report that the frame pointer was stored or loaded
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 * @bytes:	from where it is stored to the CFA; more than from the return
 *		address, if a call stored that. 0: it has the caller's value
 *		again
 */
void sfjit_rows_saved(struct sfjit_rows *rows, uint32_t offset, int32_t bytes);

/**
 * sfjit_rows_saved_ra - report that the return address was stored or loaded
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 * @bytes:	from where it is stored to the CFA; negative: above the CFA, as
 *		on Power. 0: it is in its register again
 *
 * For machines whose calls leave it in a register. It must not be signed.
 */
void sfjit_rows_saved_ra(struct sfjit_rows *rows, uint32_t offset,
			 int32_t bytes);

/**
 * sfjit_rows_frame - report that the frame pointer was set to the stack pointer
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 *
 * The frame pointer was saved before, for example by sfjit_rows_push(). From
 * here on rows start from it.
 */
void sfjit_rows_frame(struct sfjit_rows *rows, uint32_t offset);

/**
 * sfjit_rows_leave - report that the frame was left through the frame pointer
 * @rows:	the rows so far
 * @offset:	where the instruction ends
 *
 * The stack pointer was set to the frame pointer, which was then popped. For
 * x86-64 only.
 */
void sfjit_rows_leave(struct sfjit_rows *rows, uint32_t offset);

/**
 * sfjit_rows_outermost - report that there is no caller from here on
 * @rows:	the rows so far
 * @offset:	first instruction for which this holds; 0 for the first function
 *		of a coroutine, where it holds to the end
 *
 * If @offset is not 0, sfjit_rows_restore() ends it.
 */
void sfjit_rows_outermost(struct sfjit_rows *rows, uint32_t offset);

/**
 * sfjit_rows_remember - remember the current state
 * @rows:	the rows so far
 *
 * Use it before an exit in the middle of a function: remember, report the
 * exit's pops, then call sfjit_rows_restore() for the first instruction after
 * the exit. Up to 8 states can be remembered.
 */
void sfjit_rows_remember(struct sfjit_rows *rows);

/**
 * sfjit_rows_restore - return to the state that was remembered last
 * @rows:	the rows so far
 * @offset:	first instruction for which that state holds
 */
void sfjit_rows_restore(struct sfjit_rows *rows, uint32_t offset);

/**
 * sfjit_rows_epilogue - report that one instruction left the frame
 * @rows:	the rows so far
 * @offset:	where that instruction ends and the return begins
 *
 * Remembers the current state, then sets that of a function that was just
 * called. sfjit_rows_restore() ends it.
 */
void sfjit_rows_epilogue(struct sfjit_rows *rows, uint32_t offset);

/**
 * sfjit_rows_function - get the function that has these rows
 * @rows:	the rows; sfjit_rows_init() makes it usable for another function
 * @start:	first byte of the code
 * @size:	bytes of code; a row that begins at @size is left out
 * @function:	filled; it points to your array of rows
 *
 * Return:
 * * 0 - success. On failure @function is not changed.
 * * -EINVAL - @rows, @start or @function is NULL, or @size is 0; an offset was
 *   less than the one before, or a row other than the last is not within @size;
 *   a pop or restore without its push or remember; a move that is not a
 *   multiple of 8, or above the return address; a frame pointer that was set
 *   and not saved; a call that this machine does not support.
 * * -ENOSPC - there were more than @max rows.
 * * -EOVERFLOW - more than 8 states were remembered, or the frame has 2 GiB or
 *   more.
 */
int sfjit_rows_function(const struct sfjit_rows *rows, const void *start,
			size_t size, struct sfjit_function *function);

#ifdef __cplusplus
}
#endif

#endif /* SFJIT_ROW_BUILDER_H */
