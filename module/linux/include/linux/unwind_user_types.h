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
 * @assisted:	they are what the program said, not the kernel's own walk
 */
struct unwind_stacktrace {
	unsigned int	nr;
	unsigned long	*entries;
	bool		assisted;
};

/* Where the value of an unwind rule starts from, and whether it is loaded. */
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
 * @from:	what the rule starts from, enum unwind_user_from; with
 *		UNWIND_USER_DEREF the value is loaded from there + @off, else it
 *		is that sum
 * @regnum:	DWARF register number, for UNWIND_USER_FROM_REG
 * @off:	added
 */
struct unwind_user_rule {
	u8					from;
	u16					regnum;
	s32					off;
};

/* What a frame is, and so what a step from it does. */
enum unwind_user_kind {
	UNWIND_USER_FRAME_PLAIN =		0,	/* to its caller */
	UNWIND_USER_FRAME_RULES,		/* the same */
	UNWIND_USER_FRAME_SIGNAL,		/* to what it interrupted */
	UNWIND_USER_FRAME_OUTERMOST,		/* nowhere */
	UNWIND_USER_FRAME_POINTER,		/* by frame pointer */
};

/*
 * The third register that functions keep for their callers, after the stack and
 * the frame pointer: some start their CFA from it. Each architecture has its own,
 * or none. That of the caller is:
 */
enum unwind_user_third {
	UNWIND_USER_THIRD_UNKNOWN =		0,
	UNWIND_USER_THIRD_KEPT,
	/* More: stored so many words below the CFA */
};

/**
 * struct unwind_user_frame - how to step from a frame
 * @cfa:	canonical frame address; this and what follows is for frames
 *		with a caller. In a plain frame, as most are, it starts from the
 *		stack or frame pointer, the return address is on the stack, and
 *		so is the frame pointer unless it is kept
 * @ra:		return address
 * @fp:		frame pointer of the caller
 * @cfa_addend:	added to @cfa, also if that was loaded
 * @sp_off:	from the CFA to the stack pointer of the caller
 * @kind:	enum unwind_user_kind
 * @ra_copied:	@ra may be a copy of the return address, made by the function
 * @exact:	@ra is not behind a call, see @exact_ip of the state
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

/* Ranges that a walk keeps besides the one it is in. */
#define SFRAME_KEPT_RANGES	3

/**
 * struct sframe_kept_range - what a walk has looked up
 * @window:	that covers the range, or NULL
 * @first:	first address
 * @length:	number of addresses, 0 for none
 */
struct sframe_kept_range {
	struct sframe_window	*window;
	unsigned long		first;
	unsigned long		length;
};

/**
 * struct sframe_walk - SFrame windows in one walk
 * @reg:	registry of the address space
 * @window:	the last one that was looked up; NULL if there was none
 * @first:	first address for which @window is the answer
 * @length:	how many follow, with it
 * @seq:	changes of the registry before the look-up
 * @kept:	looked up before that, after the same changes
 * @looks:	how often a range was looked up
 * @deadline:	end of the walk by local_clock(), or 0
 * @stopped:	since when no window was used, by the same clock, or 0
 * @budget:	reads and rows that the walk may take still
 * @slack:	how many of them until it is looked at the clock
 * @frame:	how to step from the frame, as decoded
 */
struct sframe_walk {
	struct sframe_registry			*reg;
	struct sframe_window			*window;
	unsigned long				first;
	unsigned long				length;
	u64					seq;
	struct sframe_kept_range		kept[SFRAME_KEPT_RANGES];
	unsigned int				looks;
	u64					deadline;
	u64					stopped;
	int					budget;
	int					slack;
	struct unwind_user_frame		frame;
};

/* No register is stored at this address. */
#define UNWIND_USER_IN_REGS		1UL

/**
 * struct unwind_user_state - one position in the walk of a user stack
 * @ip:		instruction pointer or return address of the frame
 * @sp:		stack pointer of the frame
 * @fp:		frame pointer register as of the frame
 * @lr:		link register, valid in the topmost frame only
 * @third:	address where the third register as of the frame is stored;
 *		UNWIND_USER_IN_REGS, or 0 if it is not known
 * @regs:	registers of the topmost frame, for rules that name one; NULL
 *		behind a signal frame
 * @ri:		pending return probes of the task
 * @fault:	user address that the last step could not read
 * @fault_size:	bytes there
 * @reason:	why the last step was refused, enum sframe_reason
 * @ws:		word size of the task
 * @current_type: how the last frame was found
 * @available_types: ways to try
 * @signals:	signal frames that were passed
 * @switches:	steps to a lower stack that were made
 * @topmost:	no step was made yet, or the last one was a signal frame
 * @exact_ip:	@ip is the next instruction to run, not a return address,
 *		which may belong to the function behind that of the call
 * @sp_bound:	@sp is no more than a bound: a frame pointer was followed which
 *		does not lie at the end of its frame
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
