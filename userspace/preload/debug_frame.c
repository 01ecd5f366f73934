// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A file may have been replaced since ld.so has mapped it: the kernel says which
 * one is mapped (Linux 6.11). It may be truncated while it is read, so it is
 * copied as memory that may not be there.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "debug_frame.h"
#include "self.h"
#include "symfile.h"
#include "sys.h"

static bool is_mapped(const struct stat *st, uintptr_t text)
{
	struct self_mapping mapping;
	int fd = self_open_mappings(), ret;

	if (fd < 0)
		return false;
	ret = self_mapping(fd, text, &mapping);
	sys_close(fd);
	return !ret && mapping.start <= text && mapping.inode == st->st_ino &&
	       mapping.dev_major == major(st->st_dev) &&
	       mapping.dev_minor == minor(st->st_dev);
}

static bool read_sections(int fd, size_t size, struct sfg_image *cfi)
{
	long file = SYS_MMAP(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct unit_cfi found = { .flags = 0 };
	const char *reason;
	int ret;

	if (file < 0 && file > -4096)
		return false;
	ret = symfile_read(file, size, &found, &reason);
	sys_unmap((void *)file, size);
	*cfi = found.cfi;
	return !ret && found.flags & SFG_INPUT_DEBUG_FRAME;
}

bool debug_frame_take(int file, struct sfg_image *cfi)
{
	struct stat st;

	return !SYS(SYS_newfstatat, file, "", &st, AT_EMPTY_PATH) &&
	       read_sections(file, st.st_size, cfi);
}

bool debug_frame_read(const struct dl_phdr_info *info, uintptr_t text,
		      struct sfg_image *cfi)
{
	const char *name = *info->dlpi_name ? info->dlpi_name :
			   "/proc/self/exe";
	/* O_NONBLOCK: by now it may be a FIFO. */
	int fd = sys_open(AT_FDCWD, name, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;
	bool found;

	if (fd < 0)
		return false;
	found = !SYS(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) &&
		is_mapped(&st, text) && debug_frame_take(fd, cfi);
	sys_close(fd);
	return found;
}
