/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * Input of binutils' libsframe. Its header and the project's define the same
 * names, so only peer.c includes it.
 */
#ifndef BENCH_ENCODE_H
#define BENCH_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* A DEFAULT row; @words as stored, one byte each. */
struct peer_row {
	uint32_t start;
	uint8_t cfa_is_fp;
	uint8_t nr_words;
	int8_t words[2];
};

struct peer_function {
	int64_t start;		/* relative to its index entry */
	uint32_t size;
	uint32_t nr_rows;
	uint8_t rep_size;	/* != 0: PCMASK */
	const struct peer_row *rows;
};

/*
 * Encodes a section, copies at most @len bytes of it to @copy (NULL: none), and
 * frees it. Returns its size, or 0 if libsframe refused.
 */
size_t peer_encode(const struct peer_function *functions, size_t nr,
		   void *copy, size_t len);

#endif /* BENCH_ENCODE_H */
