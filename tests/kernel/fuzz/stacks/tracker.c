// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any events and samples, in any order, with any file as a mapping.
 *
 * Input: what the tracker is made with, the number of the allocation that
 * fails, the length of the CFI in two bytes, the CFI; how many fields of the
 * file are changed, and each of them: its place in two bytes, its value in
 * eight. Then operations: a byte that chooses one, and its arguments.
 */
#define _GNU_SOURCE
/* Those of this file do not fail. */
#undef malloc
#undef calloc

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sfjit-stacks.h>

#include "cursor.h"
#include "oracle.h"

#define HEAD		4
#define MAX_OPERATIONS	400
#define STACK		0x7ffd00000000
#define MASK		0xff01ffULL
#define AARCH64_MASK	0x1ffffffffULL

/* The first byte. */
#define AARCH64		0x1
#define NO_OPTIONS	0x2
#define KEEPS		0x4
#define NO_SECTIONS	0x8
#define NO_BUILD_ID	0x10
#define DEBUG_FRAME	0x20
#define COMPRESSED	0x40
#define GO		0x80		/* the bytes are Go's table */

/* Addresses and times are few, so that they meet. */
struct run {
	struct cursor c;
	struct sfjit_stacks *stacks;
	unsigned int flags;
	uint8_t *file;
	size_t file_length;
	uint64_t samples, frames;
};

/* Without options it is this machine. */
static bool is_aarch64(const struct run *r)
{
	return r->flags & AARCH64 && !(r->flags & NO_OPTIONS);
}

static uint64_t mask_of(const struct run *r)
{
	return is_aarch64(r) ? AARCH64_MASK : MASK;
}

static unsigned int byte(struct run *r)
{
	return cursor_uint(&r->c, 1);
}

/* Mostly small, at times anything. */
static uint64_t number(struct run *r, unsigned int shift)
{
	unsigned int b = byte(r);

	return b < 0xf8 ? (uint64_t)b << shift : cursor_uint(&r->c, 8);
}

static pid_t pid_of(struct run *r)
{
	return byte(r) % 8;
}

/*
 * A file with its headers, code of a page at 0x1000, a build-id, and the CFI at
 * its end, where the code's segment is not.
 */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[4];
	Elf64_Shdr sections[3];
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[20];
	} note;
	char names[32];
	uint8_t pointer[8];		/* .eh_frame_hdr */
	uint8_t cfi[];
};

#define AT(member)	offsetof(struct file, member)

static void make_segments(struct file *f, size_t length)
{
	f->segments[0] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = length,
	};
	f->segments[1] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = length,
		.p_vaddr = 0x1000,
	};
	f->segments[2] = (Elf64_Phdr) {
		.p_type = PT_NOTE, .p_offset = AT(note), .p_align = 4,
		.p_filesz = sizeof(f->note),
	};
	f->segments[3] = (Elf64_Phdr) {
		.p_type = PT_GNU_EH_FRAME, .p_offset = AT(pointer),
		.p_vaddr = AT(pointer), .p_filesz = sizeof(f->pointer),
	};
}

static void make_sections(struct file *f, size_t cfi_length,
			  unsigned int flags)
{
	if (flags & GO)
		memcpy(f->names, "\0.gopclntab\0.go.buildinfo", 26);
	else
		memcpy(f->names, "\0.eh_frame\0.debug_frame", 24);
	f->sections[1] = (Elf64_Shdr) {
		.sh_type = SHT_PROGBITS,
		.sh_name = flags & DEBUG_FRAME ? flags & GO ? 12 : 11 : 1,
		.sh_flags = flags & COMPRESSED ? SHF_COMPRESSED : 0,
		.sh_addr = AT(cfi), .sh_offset = AT(cfi),
		.sh_size = cfi_length,
	};
	f->sections[2] = (Elf64_Shdr) {
		.sh_type = SHT_STRTAB, .sh_offset = AT(names),
		.sh_size = sizeof(f->names),
	};
	f->header.e_shoff = AT(sections);
	f->header.e_shentsize = sizeof(Elf64_Shdr);
	f->header.e_shnum = 3;
	f->header.e_shstrndx = 2;
}

static void make_header(struct file *f, unsigned int machine)
{
	memcpy(f->header.e_ident, "\177ELF\2\1\1", 7);
	f->header.e_type = ET_DYN;
	f->header.e_machine = machine;
	f->header.e_version = 1;
	f->header.e_ehsize = sizeof(f->header);
	f->header.e_phoff = AT(segments);
	f->header.e_phentsize = sizeof(Elf64_Phdr);
	f->header.e_phnum = 4;
}

static void make_file(struct run *r, const uint8_t *cfi, size_t length)
{
	struct file *f = calloc(1, sizeof(*f) + length);

	make_header(f, is_aarch64(r) ? EM_AARCH64 : EM_X86_64);
	make_segments(f, sizeof(*f) + length);
	if (!(r->flags & NO_SECTIONS))
		make_sections(f, length, r->flags);
	f->note.header = (Elf64_Nhdr) { 4, 20, NT_GNU_BUILD_ID };
	memcpy(f->note.name, "GNU", 4);
	if (r->flags & GO)
		f->segments[3].p_type = PT_NULL;
	if (r->flags & NO_BUILD_ID)
		f->segments[2].p_type = PT_NULL;
	memcpy(f->pointer, "\1\x1b\xff\xff\4\0\0\0", 8);
	memcpy(f->cfi, cfi, length);
	r->file = (uint8_t *)f;
	r->file_length = sizeof(*f) + length;
}

static void change_file(struct run *r)
{
	unsigned int nr = byte(r);
	uint64_t value;
	size_t at;

	while (nr-- && cursor_left(&r->c)) {
		at = cursor_uint(&r->c, 2);
		value = cursor_uint(&r->c, 8);
		if (at + 8 <= r->file_length)
			memcpy(r->file + at, &value, 8);
	}
}

static int open_input(void *arg, pid_t pid,
		      const struct sfjit_stacks_mapping *mapping)
{
	struct run *r = arg;
	int fd = memfd_create("input", MFD_CLOEXEC);

	REQUIRE(mapping->path && *mapping->path);
	REQUIRE(fd >= 0 && write(fd, r->file, r->file_length) ==
		(ssize_t)r->file_length);
	return fd;
}

static void require_event(int ret)
{
	REQUIRE(!ret || ret == -EINVAL || ret == -ENOSPC ||
		(ret == -ENOMEM && allocation_failed()));
}

static void do_mmap(struct run *r, pid_t pid, uint64_t time)
{
	static const char *const paths[] = {
		"/a", "/b", "//anon", "[vdso]", "[heap]", "/memfd:x",
	};
	struct sfjit_stacks_mapping m = {
		.start = number(r, 12), .length = number(r, 12),
		.offset = number(r, 12),
		.path = paths[byte(r) % ARRAY_SIZE(paths)],
	};
	unsigned int flags = byte(r);

	m.executable = flags & 3;
	if (flags & 4)
		m.inode = number(r, 0);
	if (flags & 8)
		m.build_id_length = byte(r) % 32;
	require_event(sfjit_stacks_mmap(r->stacks, pid, time, &m));
}

static void do_load(struct run *r, pid_t pid, uint64_t time)
{
	struct sfjit_stacks_code code = {
		.start = number(r, 12), .length = number(r, 12),
		.kind = byte(r) % 5,
	};
	size_t length = byte(r);
	uint8_t *table;

	if (length > r->c.end - r->c.pos)
		length = r->c.end - r->c.pos;
	table = exact_copy(r->c.data + r->c.pos, length);
	r->c.pos += length;
	code.table = table;
	code.table_length = length;
	code.table_address = number(r, 4);
	require_event(sfjit_stacks_jit_load(r->stacks, pid, time, &code));
	free(table);
}

struct check {
	uint64_t ip;
	bool other_ip;		/* it is elsewhere, or not there */
	int nr;
};

static int stop_at_once(void *arg, const struct sfjit_stacks_frame *frame)
{
	return 1;
}

static int check_frame(void *arg, const struct sfjit_stacks_frame *frame)
{
	struct check *check = arg;

	if (!check->nr)
		REQUIRE((frame->ip == check->ip || check->other_ip) &&
			!frame->flags);
	REQUIRE(!(frame->flags & ~(SFJIT_STACKS_BY_FRAME_POINTER |
				   SFJIT_STACKS_BY_CODE |
				   SFJIT_STACKS_AFTER_SIGNAL)));
	REQUIRE(check->nr++ < SFJIT_STACKS_MAX_FRAMES);
	return 0;
}

/*
 * A stack of addresses that may be in mappings, or of the stack itself; a long
 * one repeats itself.
 */
static uint64_t *make_stack(struct run *r, size_t words)
{
	uint64_t *stack = malloc(words * 8);
	size_t i;

	for (i = 0; i < words && i < 64; i++)
		stack[i] = number(r, 4) +
			   (byte(r) % 4 ? 0 : STACK + 8 * (i + 1));
	for (; i < words; i++)
		stack[i] = stack[i - 64];
	return stack;
}

static void do_sample(struct run *r, pid_t pid, uint64_t time)
{
	uint64_t registers[33], *stack;
	struct sfjit_stacks_sample s = {
		.pid = pid, .time = time, .registers = registers,
	};
	enum sfjit_stacks_reason end = SFJIT_STACKS_NR_ENDS;
	struct check check = { 0 };
	size_t words, i;
	int ret;

	s.mask = byte(r) % 16 ? mask_of(r) : number(r, 0) & AARCH64_MASK;
	check.other_ip = s.mask != mask_of(r);
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		registers[i] = i < 6 ? i : STACK + 16;
	registers[is_aarch64(r) ? 31 : 7] = STACK;
	check.ip = number(r, 12) + byte(r);
	registers[is_aarch64(r) ? 32 : 8] = check.ip;
	words = byte(r);
	words = words < 250 ? words % 64 : 1100;
	stack = make_stack(r, words);
	s.stack = stack;
	s.stack_length = words * 8;
	ret = sfjit_stacks_frames(r->stacks, &s, check_frame, &check, &end);
	if (ret > 0)
		REQUIRE(sfjit_stacks_frames(r->stacks, &s, stop_at_once, NULL,
					    NULL) == 1);
	free(stack);
	if (ret < 0) {
		REQUIRE(ret == -EINVAL && !check.nr);
		return;
	}
	REQUIRE(ret == check.nr && ret > 0);
	REQUIRE(*sfjit_stacks_end_text(end) != '?');
	REQUIRE(end != SFJIT_STACKS_STOPPED);
	r->samples += 2;
	r->frames += ret + 1;
}

static void check_stats(struct run *r)
{
	struct sfjit_stacks_counts stats;
	uint64_t ends = 0;
	unsigned int i;

	sfjit_stacks_stats(r->stacks, &stats);
	for (i = 0; i < SFJIT_STACKS_NR_ENDS; i++)
		ends += stats.ends[i];
	REQUIRE(stats.samples == r->samples && ends == r->samples);
	REQUIRE(stats.frames == r->frames);
	REQUIRE(!stats.tables == !stats.table_bytes);
}

static void do_find(struct run *r, pid_t pid, uint64_t time)
{
	struct sfjit_stacks_mapping m;
	uint64_t addr = number(r, 12);
	int ret = sfjit_stacks_find(r->stacks, pid, time, addr, &m);

	REQUIRE(!ret || ret == -ESRCH || ret == -ENOENT);
	REQUIRE((sfjit_stacks_look(r->stacks, pid, time, addr) ==
		 SFJIT_STACKS_NO_MAPPING) == !!ret);
	if (!ret)
		REQUIRE(addr - m.start < m.length && m.path);
}

static void operate(struct run *r)
{
	unsigned int what = byte(r);
	pid_t pid = pid_of(r);
	uint64_t time = number(r, 0);

	switch (what % 12) {
	case 0: case 1:
		do_mmap(r, pid, time);
		return;
	case 2:
		require_event(sfjit_stacks_munmap(r->stacks, pid, time,
						  number(r, 12),
						  number(r, 12)));
		return;
	case 3:
		require_event(sfjit_stacks_fork(r->stacks, pid, byte(r) % 8,
						byte(r) % 8, time));
		return;
	case 4:
		require_event(sfjit_stacks_exec(r->stacks, pid, time));
		return;
	case 5:
		require_event(sfjit_stacks_exit(r->stacks, pid, byte(r) % 8,
						time));
		return;
	case 6:
		do_load(r, pid, time);
		return;
	case 7:
		require_event(sfjit_stacks_jit_unload(r->stacks, pid, time,
						      number(r, 12),
						      number(r, 12)));
		return;
	case 8:
		sfjit_stacks_settle(r->stacks, time);
		return;
	case 9:
		do_find(r, pid, time);
		return;
	default:
		do_sample(r, pid, time);
	}
}

static int begin(struct run *r)
{
	struct sfjit_stacks_options options = {
		.abi = is_aarch64(r) ? SFRAME_ABI_AARCH64_LE :
				       SFRAME_ABI_AMD64_LE,
		.open = open_input, .arg = r,
		.keep = r->flags & KEEPS ? 4096 : 0,
	};

	return sfjit_stacks_begin(r->flags & NO_OPTIONS ? NULL : &options,
				  &r->stacks);
}

static void operate_all(struct run *r)
{
	unsigned int i;

	REQUIRE(sfjit_stacks_registers(r->stacks) == mask_of(r));
	for (i = 0; i < MAX_OPERATIONS && cursor_left(&r->c); i++)
		operate(r);
	check_stats(r);
	sfjit_stacks_end(r->stacks);
}

static void run(const uint8_t *data, size_t size)
{
	struct run r = { .flags = data[0] };
	size_t cfi = data[2] | data[3] << 8;
	int ret;

	if (cfi > size - HEAD)
		cfi = size - HEAD;
	make_file(&r, data + HEAD, cfi);
	cursor_init(&r.c, data, HEAD + cfi, size, false);
	change_file(&r);
	fail_allocation(data[1]);
	ret = begin(&r);
	REQUIRE(!ret || (ret == -ENOMEM && allocation_failed()));
	sfjit_stacks_end(NULL);
	REQUIRE(*sfjit_stacks_end_text(SFJIT_STACKS_NR_ENDS) == '?');
	if (!ret)
		operate_all(&r);
	fail_allocation(0);
	free(r.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* each sample has a bound of its own, and an input has many of them */
	if (size > HEAD)
		run(data, size);
	return 0;
}
