// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Stacks of code described by a table of `sframegen --elf'. Each byte of the
 * code is equally likely to be the last one of a call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sfjit/sframe.h>

#include "measure.h"
#include "shape.h"
#include "sframegen.h"
#include "trigger.h"

#define MAX_FRAME_SIZE	8192

static struct sfg_section table;
static uint64_t text_start, text_end, text_map;
static void *packed_table;
static size_t packed_size;
static int files;

static void *read_file(const char *path, size_t *size)
{
	struct stat stat;
	void *data;
	int fd;

	fd = open(path ?: "", O_RDONLY);
	if (fd < 0 || fstat(fd, &stat))
		die("cannot open the table '%s': %m", path);
	*size = stat.st_size;
	data = map_memory(*size, PROT_READ | PROT_WRITE);
	if (read(fd, data, *size) != (ssize_t)*size)
		die("cannot read %s: %m", path);
	close(fd);
	return data;
}

static void open_table(void *data, size_t size)
{
	struct sfg_row_reader first, last;
	struct sfg_error err;

	if (sfg_open_section(&table, data, size, (uintptr_t)data, &err) ||
	    sfg_read_fde(&table, 0, &first, &err) ||
	    sfg_read_fde(&table, table.header.num_fdes - 1, &last, &err))
		die("table: %zu: %s", err.offset, err.reason);
	text_start = first.fde.addr;
	text_end = last.fde.addr + last.fde.size;
}

/* The section is made for address 0. Returns its size. */
static void *read_table(const char *path, size_t *size)
{
	void *data = read_file(path, size);

	sfg_rebase(data, *size, -(intptr_t)data);
	open_table(data, *size);
	return data;
}

static void map_table(const char *path)
{
	size_t size;
	void *data = read_table(path, &size);

	text_map = (uintptr_t)map_memory(text_end, PROT_READ | PROT_EXEC);
	sfg_rebase(data, size, text_map);
	open_table(data, size);
	trigger_window_register();
}

static void enter_table(const char *path)
{
	map_table(path);
	if (prctl(PR_SFRAME_REGISTER, text_start, table.data, table.len, 0))
		die("PR_SFRAME_REGISTER of %s: %m", path);
}

/* The packed table of the same code is in a file beside the section. */
static void read_packed(const char *path)
{
	char packed[4096];

	snprintf(packed, sizeof(packed), "%s.packed", path);
	packed_table = read_file(packed, &packed_size);
}

static void enter_packed(const char *path)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .format = SFRAME_FORMAT_PACKED,
	};

	map_table(path);
	opts.text_bias = text_map;
	read_packed(path);
	if (prctl(PR_SFRAME_REGISTER, text_start, packed_table, packed_size,
		  &opts))
		die("PR_SFRAME_REGISTER of the table of %s: %m", path);
}

/* A file whose text is at the offsets that the table has for addresses. */
static int make_file(void)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, text_end))
		die("cannot make a file: %m");
	return fd;
}

static void add_to_file(int fd)
{
	struct sframe_file_opts opts = {
		.size = sizeof(opts), .fd = fd,
		.table = (uintptr_t)packed_table, .length = packed_size,
	};
	struct stat st;

	if (fstat(fd, &st))
		die("cannot stat a file: %m");
	opts.ctime = st.st_ctim.tv_sec;
	opts.ctime_nsec = st.st_ctim.tv_nsec;

	files = prctl(PR_SFRAME_FILES, 0, 0, 0, 0);
	if (files < 0)
		die("PR_SFRAME_FILES: %m");
	/* The file was made in this tick. */
	while (ioctl(files, SFRAME_IOC_ADD, &opts) < 0)
		if (errno != EAGAIN || sched_yield())
			die("SFRAME_IOC_ADD: %m");
}

static void enter_file(const char *path)
{
	size_t size;
	void *data = read_table(path, &size);
	void *map;
	int fd;

	read_packed(path);
	fd = make_file();
	map = mmap(NULL, text_end, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		die("cannot map a file: %m");
	text_map = (uintptr_t)map;
	sfg_rebase(data, size, text_map);
	open_table(data, size);
	add_to_file(fd);
	close(fd);
	trigger_window_register();
}

static void leave_table(void)
{
	munmap((void *)text_map, text_end - text_map);
	munmap((void *)table.data, table.len);
	trigger_window_unregister();
}

static void leave_packed(void)
{
	munmap(packed_table, packed_size);
	leave_table();
}

static void leave_file(void)
{
	close(files);
	leave_packed();
}

/* The offset of the return address from the CFA; 0 if the row has none. */
static int32_t ra_offset(const struct sfjit_rule *ra)
{
	if (ra->base == SFJIT_BASE_NONE)
		return table.header.cfa_fixed_ra_offset;
	return ra->base == SFJIT_BASE_CFA && ra->deref ? ra->offset : 0;
}

/*
 * Excludes rows that stack_add_saved() cannot make, which are rare, and rows of
 * epilogues, where the saved frame pointer is below the stack pointer: no call
 * is there.
 */
static int is_usual(const struct sfjit_row *row)
{
	const struct sfjit_rule *cfa = &row->cfa, *fp = &row->fp;
	int saves_fp = fp->base == SFJIT_BASE_CFA && fp->deref;

	if (row->flags & ~SFJIT_ROW_MANGLED_RA || cfa->deref ||
	    ra_offset(&row->ra) > -8 || ra_offset(&row->ra) < -cfa->offset ||
	    cfa->offset < SAVE_AREA + 8 || cfa->offset % 8 || cfa->offset > MAX_FRAME_SIZE)
		return 0;
	if (fp->base != SFJIT_BASE_NONE && !saves_fp)
		return 0;
	if (saves_fp && (fp->offset > -16 || fp->offset < -cfa->offset))
		return 0;
	return cfa->reg == REGNUM_SP || (cfa->reg == REGNUM_FP && saves_fp);
}

static uint64_t random_code(struct sfjit_row *row)
{
	struct sfjit_function fde;
	uint64_t addr;

	do {
		addr = text_start + random_below(text_end - text_start);
	} while ((addr + 1) % CODE_ALIGN ||
		 sfg_find_row(&table, addr, &fde, row, NULL) ||
		 !is_usual(row));
	return addr;
}

static void build_table(struct stack *stack, size_t depth)
{
	struct sfjit_row row;
	uint64_t addr;

	while (stack->depth < depth - 1) {
		addr = random_code(&row);
		stack_add_saved(stack, addr + 1, row.cfa.reg == REGNUM_FP,
				row.cfa.offset, ra_offset(&row.ra),
				row.fp.offset);
	}
	stack_end(stack, (uintptr_t)bench_trigger_insn);
}

const struct shape shape_table = {
	"table", enter_table, build_table, leave_table,
};

const struct shape shape_packed = {
	"packed", enter_packed, build_table, leave_packed,
};

const struct shape shape_file = {
	"file", enter_file, build_table, leave_file,
};
