/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* The input of the target 'cfi'; seeds writes it, cfi-mutate.c changes it. */
#ifndef FUZZ_CFI_H
#define FUZZ_CFI_H

#include <elf.h>

#include "core.h"

#define HEAD_ABI	0x03	/* SFRAME_ABI_* less 1, or see HEAD_OTHER */
#define HEAD_DEBUG	0x04	/* .debug_frame */
#define HEAD_NO_TEXT	0x08	/* no text ranges at all */
#define HEAD_FAR	0x10	/* a range whose bytes are not known */
#define HEAD_REPEATED	0x20	/* the range before once more: not sorted */
#define HEAD_OTHER	0x40	/* ABIs without SFrame, and unknown ones */
#define HEAD_APART	0x80	/* 16 bytes before the far range */

#define FAILS_ALLOCATION 0x7f	/* this one fails; 0: none */
#define FAILS_ADDENDS	0x80	/* fails nothing: the format has addends */

/* Followed by the bytes of the text, then the CFI. */
struct head {
	uint8_t flags;
	uint8_t max_rows;	/* 255: no bound */
	uint8_t text_len[2];	/* this and what follows: little endian */
	uint8_t text_addr[4];
	uint8_t cfi_addr[4];
	uint8_t far_len[4];	/* the far range follows the text */
	uint8_t fails;		/* FAILS_* */
};

static inline uint32_t head_uint(const uint8_t *p, size_t len)
{
	uint32_t v = 0;

	while (len--)
		v = v << 8 | p[len];
	return v;
}

static inline unsigned int head_abi(const struct head *head)
{
	static const unsigned int others[HEAD_ABI + 1] = {
		SFG_ABI_ELF(ELFDATA2LSB, EM_RISCV),
		SFG_ABI_ELF(ELFDATA2LSB, EM_PPC64), 0, 99,
	};
	unsigned int abi = head->flags & HEAD_ABI;

	return head->flags & HEAD_OTHER ? others[abi] : abi + 1;
}

/* cfi-written.c: 'flags' are SFG_INPUT_*. */
void require_written(unsigned int abi, unsigned int flags,
		     const struct sfjit_function *f);

/*
 * At rows of the section, steps by it and by the CFI lead to the same caller, if
 * FDEs are apart.
 */
void require_steps(const struct sfg_input *in, const struct sfg_output *out,
		   const struct sfg_fdes *derived);
/* With the rest of the CFI, from this byte on, as an index. */
void require_indexed(const struct sfg_input *in, size_t from);
/* The result of sfg_open_cfi(). */
int require_opened(const struct sfg_input *in);

#endif /* FUZZ_CFI_H */
