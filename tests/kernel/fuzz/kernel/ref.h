/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A second opinion: SFrame V3, packed tables and a step read plainly, from what
 * the kernel's code has read.
 */
#ifndef FUZZ_REF_H
#define FUZZ_REF_H

#include "shim.h"

#include <linux/unwind_user_types.h>
#include "sframe.h"

struct step;

enum ref_base { REF_NONE, REF_CFA, REF_SP, REF_FP, REF_LR, REF_OTHER };

struct ref_rule {
	enum ref_base base;
	u32 reg;
	s32 off;
	bool load;
};

struct ref_frame {
	struct ref_rule cfa, ra, fp;
	s32 addend;
	bool flex;		/* in the order of the rules */
	bool outermost;
	bool signal;
	bool exact;		/* is the caller's address */
	bool by_fp;		/* a packed table says so */
	u8 third;		/* the caller's third register, as that table says */
};

/* A window that was accepted. Offsets are from the section's start. */
struct ref_window {
	unsigned long addr;
	unsigned long length;
	unsigned long text_start;
	unsigned long text_end;
	u64 fdes;
	u64 fres;
	u64 fres_end;
	u32 num_fdes;
	u32 format;
	u64 bias;

	/* of a packed table: first address of its code, and bytes */
	u64 first;
	u32 code;
	u8 repeat;
};

bool ref_same_frame(const struct ref_frame *a, const struct ref_frame *b);

/* 0 or -errno, from what the registration read. */
int ref_register(struct ref_window *ref, unsigned long addr,
		 unsigned long len, unsigned long opts);

/* One step; returns what the kernel's does, and why. */
int ref_step(struct unwind_user_state *state, struct step *step);
/* Be in the range of the state's call; look it up if it is not known. */
void ref_find_range(struct unwind_user_state *state, const struct step *step);
/* Several steps at once, as many as its notes tell. */
void ref_steps(struct unwind_user_state *state, struct step *step);

/* A step by frame pointer: 0 or why not. */
enum sframe_reason ref_fp_step(struct unwind_user_state *state);

/* Addresses of a walk: how many; and the refusal that ended it. */
unsigned int ref_deferred_walk(unsigned long *ips, unsigned int max,
			       enum sframe_reason *reason);
unsigned int ref_perf_walk(unsigned long *ips, unsigned int max,
			   bool is_full, enum sframe_reason *reason);

#endif
