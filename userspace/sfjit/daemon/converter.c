// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine.h"
#include "converter.h"
#include "object.h"
#include "program.h"

/* Where the next table goes. */
struct space {
	struct converted *out;
	size_t used, size;
};

static size_t align(size_t offset)
{
	return (offset + SFRAME_PACKED_ALIGN - 1) & -SFRAME_PACKED_ALIGN;
}

static int put_table(struct space *space, const struct sfg_output *table,
		     uint64_t bias)
{
	struct converted *out = space->out;
	size_t at = align(space->used);

	if (out->nr == TABLES_MOST || at > space->size ||
	    table->len > space->size - at)
		return -E2BIG;
	memcpy((char *)out + at, table->data, table->len);
	out->tables[out->nr].offset = at;
	out->tables[out->nr].length = table->len;
	out->tables[out->nr++].bias = bias;
	space->used = at + table->len;
	return 0;
}

/* The executable sections of one segment; they are sorted, as segments are. */
static void take_code(struct sfg_input *in, const struct sfg_image *text)
{
	while (in->nr_code && in->code->addr < text->addr) {
		in->code++;
		in->nr_code--;
	}
	while (in->nr_code && in->code[in->nr_code - 1].addr - text->addr >=
	       text->len)
		in->nr_code--;
}

/* Each segment has its own place in the file, and so its own bias. */
static int convert_segment(struct object *f, size_t i, struct space *space)
{
	struct sfg_input in = object_input(f);
	struct sfg_output table;
	struct sfg_error err;
	int ret;

	in.debug_frame = f->debug_frame.image;
	in.flags |= SFG_INPUT_CODE | SFG_INPUT_ADDENDS | SFG_INPUT_PACKED;
	in.text = &f->text[i];
	in.nr_text = 1;
	take_code(&in, in.text);
	ret = sfg_convert(&in, &table, NULL, &err);
	if (ret)
		return object_error(f, object_cfi_offset(f, err.offset), ret,
				    "%s", err.reason);
	ret = put_table(space, &table, f->segments[i].file_offset -
				       f->segments[i].addr);
	free(table.data);
	return ret;
}

static int convert_all(struct object *f, struct space *space)
{
	size_t i;
	int ret = object_read_sources(f, false);

	for (i = 0; i < f->nr_text && !ret; i++)
		ret = convert_segment(f, i, space);
	return ret;
}

static int convert(int fd, const char *path, struct space *space)
{
	struct object f;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	ret = object_open_fd(&f, path, fd, st.st_size);
	return ret ? ret : convert_all(&f, space);
}

/* Object files are not mapped to be run. */
static bool is_ours(int fd)
{
	ElfW(Ehdr) eh;

	return pread(fd, &eh, sizeof(eh), 0) == sizeof(eh) &&
	       !memcmp(eh.e_ident, ELFMAG, SELFMAG) &&
	       program_is_native(&eh) && eh.e_type != ET_REL;
}

_Noreturn void converter_run(int fd, const char *path, struct converted *out,
			     size_t size, int seconds)
{
	struct space space = { out, sizeof(*out), size };
	int ret;

	fd = confine(fd, size, seconds);
	if (!is_ours(fd))
		_exit(CONVERTER_SKIPS);
	ret = convert(fd, path, &space);
	_exit(!ret && out->nr ? CONVERTED : CONVERTER_FAILED);
}
