/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_UNWIND_USER_TYPES_H
#define _LINUX_UNWIND_USER_TYPES_H

#include <linux/types.h>

/*
 * Unwind types, listed in priority order: lower numbers are attempted first if
 * available.
 */
enum unwind_user_type_bits {
	UNWIND_USER_TYPE_SFRAME_BIT =		0,
	UNWIND_USER_TYPE_FP_BIT =		1,
	UNWIND_USER_TYPE_BACKCHAIN_BIT =	2,

	NR_UNWIND_USER_TYPE_BITS,
};

enum unwind_user_type {
	/* Type "none" for the start of stack walk iteration. */
	UNWIND_USER_TYPE_NONE =			0,
	UNWIND_USER_TYPE_SFRAME =		BIT(UNWIND_USER_TYPE_SFRAME_BIT),
	UNWIND_USER_TYPE_FP =			BIT(UNWIND_USER_TYPE_FP_BIT),
	UNWIND_USER_TYPE_BACKCHAIN =		BIT(UNWIND_USER_TYPE_BACKCHAIN_BIT),
};

/**
 * struct unwind_stacktrace - the user stack of a task
 * @nr:		number of @entries
 * @entries:	addresses, the innermost first
 * @assisted:	@entries come from the program, not from the kernel's walk
 */
struct unwind_stacktrace {
	unsigned int	nr;
	unsigned long	*entries;
	bool		assisted;
};

/* The base of an unwind rule, and whether the value is loaded from memory. */
enum unwind_user_from {
	UNWIND_USER_FROM_NONE =			0,	/* value is kept */
	UNWIND_USER_FROM_CFA,
	UNWIND_USER_FROM_SP,
	UNWIND_USER_FROM_FP,
	UNWIND_USER_FROM_LR,
	UNWIND_USER_FROM_REG,

	UNWIND_USER_DEREF =			BIT(7),
};

/**
 * struct unwind_user_rule - how to find one value of the calling frame
 * @from:	base of the rule, enum unwind_user_from; with
 *		UNWIND_USER_DEREF the value is loaded from base + @off, else it
 *		is that sum
 * @regnum:	DWARF register number, for UNWIND_USER_FROM_REG
 * @off:	offset from the base
 */
struct unwind_user_rule {
	u8					from;
	u16					regnum;
	s32					off;
};

/* The kind of a frame decides where a step from it goes. */
enum unwind_user_kind {
	UNWIND_USER_FRAME_PLAIN =		0,	/* to its caller */
	UNWIND_USER_FRAME_RULES,		/* the same */
	UNWIND_USER_FRAME_SIGNAL,		/* to what it interrupted */
	UNWIND_USER_FRAME_OUTERMOST,		/* nowhere */
	UNWIND_USER_FRAME_POINTER,		/* by frame pointer */
};

/*
 * A third register that functions preserve, besides the stack and frame
 * pointer: some base their CFA on it. It depends on the architecture, which may
 * have none. The caller's is:
 */
enum unwind_user_third {
	UNWIND_USER_THIRD_UNKNOWN =		0,
	UNWIND_USER_THIRD_KEPT,
	/* n > 1: stored n words below the CFA */
};

/**
 * struct unwind_user_frame - how to step from a frame
 * @cfa:	canonical frame address; all but @kind needs a caller to be
 *		valid. In a plain frame, as most are, the CFA is based on the
 *		stack or frame pointer, the return address is on the stack, and
 *		so is the frame pointer unless it is kept
 * @ra:		return address
 * @fp:		frame pointer of the caller
 * @cfa_addend:	added to @cfa, also if that was loaded
 * @sp_off:	from the CFA to the stack pointer of the caller
 * @kind:	enum unwind_user_kind
 * @ra_copied:	@ra may be a copy of the return address, made by the function
 * @exact:	@ra does not follow a call, see @exact_ip of the state
 * @third:	the caller's third register, enum unwind_user_third
 */
struct unwind_user_frame {
	struct unwind_user_rule			cfa;
	struct unwind_user_rule			ra;
	struct unwind_user_rule			fp;
	s32					cfa_addend;
	s32					sp_off;
	u8					kind;
	bool					ra_copied;
	bool					exact;
	u8					third;
};

struct return_instance;
struct sframe_registry;
struct sframe_window;

/* Ranges that a walk keeps, besides the current one. */
#define SFRAME_KEPT_RANGES	3

/**
 * struct sframe_kept_range - look-up result that a walk keeps
 * @window:	window that covers the range, or NULL
 * @first:	first address
 * @length:	number of addresses, 0 for none
 * @bias:	address of file offset 0, if @window belongs to a file
 */
struct sframe_kept_range {
	struct sframe_window	*window;
	unsigned long		first;
	unsigned long		length;
	unsigned long		bias;
};

/**
 * struct sframe_walk - use of SFrame windows in one walk
 * @reg:	registry of the address space
 * @window:	result of the last look-up; NULL if there was none
 * @first:	first address that this result holds for
 * @length:	number of addresses that it holds for
 * @bias:	as in struct sframe_kept_range
 * @seq:	sequence count of @reg before the look-up
 * @files_seq:	sframe_files_seq before the look-up
 * @kept:	earlier results with the same @seq and @files_seq
 * @looks:	number of look-ups
 * @deadline:	end of the walk by local_clock(), or 0
 * @stopped:	since when no window was used, by the same clock, or 0
 * @budget:	reads and rows left to the walk, as of the last deadline check
 * @slack:	reads and rows left before the next deadline check
 * @frame:	decoded rules of the current frame
 */
struct sframe_walk {
	struct sframe_registry			*reg;
	struct sframe_window			*window;
	unsigned long				first;
	unsigned long				length;
	unsigned long				bias;
	u64					seq;
	u64					files_seq;
	struct sframe_kept_range		kept[SFRAME_KEPT_RANGES];
	unsigned int				looks;
	u64					deadline;
	u64					stopped;
	int					budget;
	int					slack;
	struct unwind_user_frame		frame;
};

/* Not stored, still in the register: never the address of a slot. */
#define UNWIND_USER_IN_REGS		1UL

/**
 * struct unwind_user_state - one position in the walk of a user stack
 * @ip:		instruction pointer or return address of the frame
 * @sp:		stack pointer of the frame
 * @fp:		frame pointer register as of the frame
 * @lr:		link register, valid in the topmost frame only
 * @third:	address where the frame's third register is stored;
 *		UNWIND_USER_IN_REGS if in @regs, or 0 if it is not known
 * @regs:	registers of the topmost frame, for rules that name one; NULL
 *		after a signal frame
 * @ri:		pending return probes of the task
 * @fault:	user address that the last step could not read
 * @fault_size:	size of that read
 * @reason:	why the last step was refused, enum sframe_reason
 * @ws:		word size of the task
 * @current_type: how the last frame was found
 * @available_types: types to try
 * @signals:	signal frames that were passed
 * @switches:	steps to a lower stack that were made
 * @topmost:	no step was made yet, or the last one was a signal frame
 * @exact_ip:	@ip is the next instruction to run, not a return address,
 *		which may belong to the function after the calling one
 * @sp_bound:	@sp is only a lower bound: the last step followed a frame
 *		pointer, whose record need not be at the top of its frame
 * @done:	the walk has ended
 * @sframe:	for UNWIND_USER_TYPE_SFRAME
 */
struct unwind_user_state {
	unsigned long				ip;
	unsigned long				sp;
	unsigned long				fp;
	unsigned long				lr;
	unsigned long				third;
	struct pt_regs				*regs;
	struct return_instance			*ri;
	unsigned long				fault;
	unsigned int				fault_size;
	int					reason;
	unsigned int				ws;
	enum unwind_user_type			current_type;
	unsigned int				available_types;
	unsigned int				signals;
	unsigned int				switches;
	bool					topmost;
	bool					exact_ip;
	bool					sp_bound;
	bool					done;
	struct sframe_walk			sframe;
};

#endif /* _LINUX_UNWIND_USER_TYPES_H */
