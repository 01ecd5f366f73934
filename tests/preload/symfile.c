// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: an ELF file in memory that a JIT made for gdb is read as far as
 * memory goes, whole and broken in any way (built with AddressSanitizer).
 *
 * The file ends where memory does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../lib/tap.h"
#include "cfi.h"
#include "programs/jit_elf.h"

#define PAGE	4096
#define ROUNDS	20000
#define CODE	0x7f0012340000

static uint8_t *page;
static struct elf_file *file;
static uint64_t seed = 88172645463325252ULL;

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void make_file(int debug_frame)
{
	struct frames frames;

	frames_begin(&frames, debug_frame);
	frames_function(&frames, CODE, 16, debug_frame);
	if (!debug_frame)
		frames_end(&frames);
	elf_make(file, &frames, debug_frame, CODE, 4096);
}

static int read_file(struct unit_cfi *cfi, uint64_t size, const char **reason)
{
	memset(cfi, 0, sizeof(*cfi));
	*reason = NULL;
	return cfi_read_elf((uintptr_t)file, size, cfi, reason);
}

/* Number of functions in it, or -errno. */
static int functions(const struct unit_cfi *cfi)
{
	const struct sfg_input in = {
		.abi = SFG_HOST_ABI, .cfi = cfi->cfi, .flags = cfi->flags,
		.text_base = cfi->text_base,
	};
	struct sfg_image *list;
	size_t nr;
	int ret = sfg_list_functions(&in, &list, &nr, NULL);

	if (!ret)
		free(list);
	return ret ? ret : (int)nr;
}

static void check_whole(int debug_frame)
{
	struct unit_cfi cfi;
	const char *reason;

	make_file(debug_frame);
	IS("a whole file", read_file(&cfi, sizeof(*file), &reason), 0);
	IS("which section", cfi.flags, SFG_INPUT_BASES |
	   (debug_frame ? SFG_INPUT_DEBUG_FRAME : 0));
	IS("base of text", cfi.text_base, CODE);
	IS("its function", functions(&cfi), 1);
	free((void *)cfi.cfi.data);
}

static void refused(const char *name, int want, const char *why)
{
	struct unit_cfi cfi;
	const char *reason;
	int ret = read_file(&cfi, sizeof(*file), &reason);

	result(ret == want && (!why || (reason && !strcmp(reason, why))), name,
	       "%d, %s", ret, reason);
	make_file(0);
}

static void check_refused(void)
{
	static const char no_sections[] = "the file has no usable sections";
	struct unit_cfi cfi;
	const char *reason;

	make_file(0);
	IS("a size without a header",
	   read_file(&cfi, sizeof(file->header) - 1, &reason), -EINVAL);
	IS("no file", cfi_read_elf(16, 4096, &cfi, &reason), -EINVAL);
	file->header.e_ident[0] = 0;
	refused("no ELF", -EINVAL, "the file is not ELF");
	file->header.e_machine = EM_AARCH64;
	refused("another machine", -EINVAL, "the file is for another machine");
	file->header.e_ident[EI_CLASS] = ELFCLASS32;
	refused("32 bits", -EINVAL, "the file is for another machine");
	file->header.e_shentsize--;
	refused("sections of another size", -EINVAL, no_sections);
	file->header.e_shnum = 0xffff;
	refused("too many sections", -EINVAL, no_sections);
	file->header.e_shstrndx = ELF_SECTIONS;
	refused("no names", -EINVAL, no_sections);
	file->header.e_shoff = UINT64_MAX;
	refused("sections outside", -EINVAL, "sections are not in the file");
	file->header.e_shoff = sizeof(*file) - sizeof(Elf64_Shdr);
	refused("sections at the end", -EINVAL, "sections are not in the file");
	file->sections[ELF_FRAMES].sh_offset = UINT64_MAX;
	refused("frames outside", -EINVAL, "the frames are not in the file");
	file->sections[ELF_FRAMES].sh_size = 1 << 20;
	refused("frames over the end", -EINVAL,
		"the frames are not in the file");
	file->sections[ELF_FRAMES].sh_size = UINT64_MAX;
	refused("long frames", -EINVAL, "the frames are over 32 MiB");
	file->sections[ELF_FRAMES].sh_size = 0;
	refused("no frames", -ENODATA, NULL);
	file->sections[ELF_STRINGS].sh_offset = UINT64_MAX - 8;
	refused("names outside", -ENODATA, NULL);
	file->sections[ELF_TEXT].sh_type = SHT_RELA;
	file->sections[ELF_TEXT].sh_info = ELF_FRAMES;
	refused("frames that a linker is to relocate", -ENODATA, NULL);
}

static void check_damaged(void)
{
	unsigned int i, n, read = 0, converted = 0;
	struct unit_cfi cfi;
	const char *reason;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		make_file(i % 2);
		for (n = random_number() % 6 + 1; n; n--)
			((uint8_t *)file)[random_number() % sizeof(*file)] =
				random_number();
		ret = read_file(&cfi, sizeof(*file), &reason);
		if (ret && ret != -ENODATA && !reason) {
			result(false, "damaged files", "no reason");
			return;
		}
		if (ret)
			continue;
		read++;
		converted += functions(&cfi) > 0;
		free((void *)cfi.cfi.data);
	}
	result(read > ROUNDS / 10 && read < ROUNDS && converted &&
	       converted < read, "damaged files", "%u read, %u converted",
	       read, converted);
}

/* The module frees a whole arena. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

int main(void)
{
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(page != MAP_FAILED);
	MUST(!mprotect(page + PAGE, PAGE, PROT_NONE));
	file = (void *)(page + PAGE - sizeof(*file));
	check_whole(0);
	check_whole(1);
	check_refused();
	check_damaged();
	return finish();
}
