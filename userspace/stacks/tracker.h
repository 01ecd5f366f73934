/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_STACKS_TRACKER_H
#define SFJIT_STACKS_TRACKER_H

#include "files.h"
#include "process.h"
#include "walk.h"

struct sfjit_stacks {
	unsigned int abi;
	uint64_t settled, latest;	/* times */
	struct files files;
	struct processes processes;
	struct walk walk;
	uint64_t samples, frames;
	uint64_t ends[SFJIT_STACKS_NR_ENDS];
};

#endif /* SFJIT_STACKS_TRACKER_H */
