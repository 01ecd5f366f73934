/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A second opinion: SFrame V3 and a step read plainly, a byte at a time, from
 * what the kernel's code has read.
 */
#ifndef FUZZ_REF_H
#define FUZZ_REF_H

#include "shim.h"

#include <linux/unwind_user_types.h>
#include "sframe.h"

/* A window that was accepted. Offsets are from the section's start. */
struct ref_window {
	unsigned long addr;
	unsigned long length;
	unsigned long text_start;
	unsigned long text_end;
	u64 fdes;
	u64 fres;
	u64 fres_end;
	u32 num_fdes;		/* or capacity, if live */
	bool live;
};

enum ref_base { REF_NONE, REF_CFA, REF_SP, REF_FP, REF_OTHER };

struct ref_rule {
	enum ref_base base;
	u32 reg;
	s32 off;
	bool load;
};

struct ref_frame {
	struct ref_rule cfa, ra, fp;
	bool by_fp;		/* by convention, not by rows */
	bool outermost;
	bool signal;
};

bool ref_same_rule(const struct ref_rule *a, const struct ref_rule *b);

/* 0 or -errno, from what the registration read. */
int ref_register(struct ref_window *ref, unsigned long addr,
		 unsigned long len, unsigned long opts);

enum sframe_reason ref_find(const struct ref_window *ref, unsigned long ip,
			    unsigned int budget, struct ref_frame *frame,
			    unsigned int *spent);

/* One step; returns what the kernel's does: 0, -ENOENT, -EINVAL. */
int ref_step(struct unwind_user_state *state, enum sframe_reason *reason);

/* A step by frame pointer: 0 or not. */
int ref_fp_step(struct unwind_user_state *state, bool checked);

/* Addresses of a walk: how many. */
unsigned int ref_deferred_walk(unsigned long *ips, unsigned int max);
unsigned int ref_perf_walk(unsigned long *ips, unsigned int max,
			   unsigned int limit);

#endif
