// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: a damaged module in memory gives an error or a table, and no
 * access outside of its readable segments (built with AddressSanitizer).
 *
 * The module is a copy of this program; what lies between the segments is
 * poisoned.
 */
#include <sanitizer/asan_interface.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/tap.h"
#include "image.h"
#include "table.h"

#define ROUNDS		1200
#define MAX_PHDRS	32

static uint8_t *file, *memory;
static long file_size;
static uint64_t span;
static ElfW(Phdr) phdrs[MAX_PHDRS];
static struct dl_phdr_info info;
static uint64_t seed = 88172645463325252ULL;

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void die(const char *what)
{
	result(false, "run-image", "%s", what);
	give_up();
}

static void read_file(void)
{
	FILE *f = fopen("/proc/self/exe", "rb");

	if (!f || fseek(f, 0, SEEK_END))
		die("cannot read myself");
	file_size = ftell(f);
	rewind(f);
	file = malloc(file_size);
	if (fread(file, 1, file_size, f) != (size_t)file_size)
		die("cannot read myself");
	fclose(f);
}

static void load(void)
{
	const ElfW(Ehdr) *eh = (void *)file;
	const ElfW(Phdr) *ph;

	if (eh->e_phnum > MAX_PHDRS)
		die("too many program headers");
	memcpy(phdrs, file + eh->e_phoff, eh->e_phnum * sizeof(*phdrs));
	for (ph = phdrs; ph < phdrs + eh->e_phnum; ph++)
		if (ph->p_type == PT_LOAD)
			span = ph->p_vaddr + ph->p_memsz;
	if (!memory)
		memory = aligned_alloc(4096, (span + 4095) & ~4095UL);
	ASAN_POISON_MEMORY_REGION(memory, span);
	for (ph = phdrs; ph < phdrs + eh->e_phnum; ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		ASAN_UNPOISON_MEMORY_REGION(memory + ph->p_vaddr,
					    ph->p_filesz);
		memcpy(memory + ph->p_vaddr, file + ph->p_offset,
		       ph->p_filesz);
	}
	info.dlpi_addr = (uintptr_t)memory;
	info.dlpi_phdr = phdrs;
	info.dlpi_phnum = eh->e_phnum;
	info.dlpi_name = "copy";
}

static ElfW(Phdr) *find(uint32_t type)
{
	ElfW(Phdr) *ph;

	for (ph = phdrs; ph < phdrs + info.dlpi_phnum; ph++)
		if (ph->p_type == type)
			return ph;
	die("a program header is missing");
	return NULL;
}

static void damage_bytes(uint64_t addr, uint64_t length, int times)
{
	while (times--)
		memory[addr + random_number() % length] = random_number();
}

/* Damages each place in turn, in a random way. */
static void damage(int round, const struct image *whole)
{
	ElfW(Phdr) *hdr = find(PT_GNU_EH_FRAME), *note = find(PT_NOTE);

	switch (round % 7) {
	case 0:
		damage_bytes(hdr->p_vaddr, 12, 1);
		break;
	case 1:
		damage_bytes(hdr->p_vaddr, hdr->p_filesz, 20);
		break;
	case 2:
		damage_bytes(note->p_vaddr, note->p_filesz, 2);
		break;
	case 3:
		hdr->p_vaddr = random_number() % (span + 64);
		break;
	case 4:
		note->p_vaddr = random_number();
		note->p_filesz = random_number();
		break;
	case 5:
		damage_bytes(whole->cfi.addr, whole->cfi.len, 5);
		break;
	case 6:
		hdr->p_type = PT_NULL;
		damage_bytes(whole->cfi.addr, whole->cfi.len, 5);
		break;
	}
}

static void check_windows(const struct table *t, const struct image *image)
{
	const struct window *windows = table_windows(t);
	uint64_t start = image->text[0].addr;
	unsigned int i;

	for (i = 0; i < t->nr_windows; i++)
		if (windows[i].start < start ||
		    windows[i].start - start + windows[i].length >
		    image->text[0].len)
			die("a window leaves the text");
}

/* Number of windows, or -errno. */
static int convert(struct image *image)
{
	const ElfW(Ehdr) *eh = (void *)file;
	unsigned int abi = sfg_abi_of_elf(eh->e_machine, eh->e_ident[EI_DATA]);
	struct table table = { .nr_windows = 0 };
	struct sfg_summary summary;
	struct sfg_output out;
	const char *reason = NULL;
	int ret;

	ret = image_read(image, &info, &reason);
	if (ret) {
		if (!reason)
			die("refused without a reason");
		return ret;
	}
	image_measure(image);
	ret = sfg_convert(&(struct sfg_input) {
		.abi = abi, .cfi = image->cfi,
		.text = image->text, .nr_text = image->nr_text,
		.flags = SFG_INPUT_PACKED,
	}, &out, &summary, NULL);
	if (ret)
		return ret;
	if (table_choose_windows(&table, out.data, out.len, image))
		die("no memory for windows");
	check_windows(&table, image);
	free(out.data);
	ret = table.nr_windows;
	table_free(&table);
	return ret;
}

/*
 * Without .eh_frame_hdr, as in static programs: as many windows, from the same
 * CFI.
 */
static void check_search(const struct image *whole)
{
	struct image image;
	ElfW(Phdr) *ph;
	int ret;

	load();
	find(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	ret = convert(&image);
	result(ret == 1, "run-image: CFI that no header names", "%d windows",
	       ret);
	result(image.cfi.addr == whole->cfi.addr, "run-image: it is found",
	       "%lx, not %lx", image.cfi.addr, whole->cfi.addr);
	result(image.cfi.len - whole->cfi.len <= 4,
	       "run-image: to its end", "%zu, not %zu", image.cfi.len,
	       whole->cfi.len);
	for (ph = phdrs; !(ph->p_flags & PF_X) || ph->p_type != PT_LOAD; )
		ph++;
	ph->p_filesz = ph->p_memsz = 64;
	ret = convert(&image);
	result(ret == -ENOENT, "run-image: CFI of other text is not used", "%d",
	       ret);
}

int main(void)
{
	struct image whole, image;
	int i, ret, refused = 0;
	char name[64];

	read_file();
	load();
	ret = convert(&whole);
	if (ret != 1 || whole.id_length != 20)
		die("the undamaged module does not give one window");
	result(true, "run-image: undamaged", "-");
	check_search(&whole);
	for (i = 0; i < ROUNDS; i++) {
		load();
		damage(i, &whole);
		refused += convert(&image) < 0;
	}
	if (!refused || refused == ROUNDS)
		die("all or none of the damaged modules were refused");
	snprintf(name, sizeof(name), "run-image: %d damaged, %d refused",
		 ROUNDS, refused);
	result(true, name, "-");
	return finish();
}
