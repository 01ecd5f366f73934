/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Tables of files, for programs in which no file has one. One file of each includes
 * it.
 */
#ifndef FUZZ_NO_FILES_H
#define FUZZ_NO_FILES_H

#include <linux/sframe.h>

#include "sframe.h"

struct sframe_registry sframe_no_windows;
atomic_t sframe_nr_file_sets;
u64 sframe_files_seq;

void sframe_file_lookup(struct sframe_range *range, unsigned long ip)
{
	finding("a file is looked up");
}

int sframe_files_open(void)
{
	return NO_FILES_DESCRIPTOR;
}

#endif
