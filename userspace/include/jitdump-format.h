/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * perf's jitdump, version 1, in the byte order of the machine:
 * tools/perf/Documentation/jitdump-specification.txt of the kernel.
 */
#ifndef JITDUMP_FORMAT_H
#define JITDUMP_FORMAT_H

#include <stdint.h>

#define JITDUMP_MAGIC		0x4a695444	/* "JiTD" */
#define JITDUMP_VERSION		1
#define JITDUMP_ARCH_TIMESTAMP	1	/* of flags: times of another clock */

enum {
	JITDUMP_LOAD		= 0,
	JITDUMP_MOVE		= 1,
	JITDUMP_CLOSE		= 3,
	JITDUMP_UNWINDING_INFO	= 4,
};

struct jitdump_header {
	uint32_t magic, version, total_size, elf_machine, pad, pid;
	uint64_t timestamp, flags;
};

struct jitdump_prefix {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct jitdump_load {
	struct jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

struct jitdump_move {
	struct jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

/* Of the next function. Behind it are .eh_frame and .eh_frame_hdr. */
struct jitdump_unwinding {
	struct jitdump_prefix prefix;
	uint64_t size, hdr_size, mapped_size;
};

/*
 * jit-PID.retired beside jit-PID.dump: what goes, for which a jitdump has no
 * record, and of one that it does not know perf warns each time. It begins with
 * the header of the jitdump that it belongs to; these follow.
 */
struct jitdump_retired {
	uint64_t timestamp, code_addr, code_size;
};

/* perf places .eh_frame behind the code at a multiple of 8. */
static inline uint64_t jitdump_aligned(uint64_t size)
{
	return (size + 7) & ~7ULL;
}

#endif /* JITDUMP_FORMAT_H */
