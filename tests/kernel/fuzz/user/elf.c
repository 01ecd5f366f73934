// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any bytes as a file, to the commands of sframegen with libelf underneath:
 * either one message and no output, or an output and no message, but for that
 * of a machine without SFrame. A section made from a program or library stays
 * inside of its executable segments.
 *
 * Input: a byte that chooses the command, the number of the allocation that
 * fails, then the file.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>

#include "commands.h"
#include "cursor.h"
#include "files.h"
#include "oracle.h"

#define HEAD		2

#define MOST_RANGES	64

static const struct command {
	int (*run)(const struct options *opts);
	bool writes, section;
} commands[] = {
	{ command_elf, true, true },
	{ command_template, true, false },
	{ command_verify, false, false },
	{ command_dump, false, false },
};

static uint64_t field(const uint8_t *file, size_t len, size_t at,
		      unsigned int width)
{
	struct cursor c;

	if (at > len)
		return 0;
	cursor_init(&c, file, at, len, file[EI_DATA] == ELFDATA2MSB);
	return cursor_uint(&c, width);
}

#define FIELD(type, name, at) \
	field(file, len, (at) + offsetof(type, name), \
	      sizeof(((type *)NULL)->name))

static bool is_code(const uint8_t *file, size_t len, size_t at)
{
	uint64_t offset = FIELD(Elf64_Phdr, p_offset, at);
	uint64_t size = FIELD(Elf64_Phdr, p_filesz, at);

	return FIELD(Elf64_Phdr, p_type, at) == PT_LOAD &&
	       FIELD(Elf64_Phdr, p_flags, at) & PF_X &&
	       offset <= len && size <= len - offset;
}

static size_t code_segments(const uint8_t *file, size_t len,
			    struct sfg_image *text)
{
	size_t i, nr = 0, phnum = FIELD(Elf64_Ehdr, e_phnum, 0), at;

	for (i = 0; i < phnum; i++) {
		at = FIELD(Elf64_Ehdr, e_phoff, 0) + i * sizeof(Elf64_Phdr);
		if (is_code(file, len, at))
			text[nr++] = (struct sfg_image) {
				.addr = FIELD(Elf64_Phdr, p_vaddr, at),
				.len = FIELD(Elf64_Phdr, p_filesz, at),
			};
	}
	return nr;
}

/* In other segments, too; in a separate debug file without their bytes. */
static size_t code_sections(const uint8_t *file, size_t len,
			    struct sfg_image *text)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	size_t i, nr = 0, shnum = FIELD(Elf64_Ehdr, e_shnum, 0), at;

	for (i = 0; i < shnum; i++) {
		at = FIELD(Elf64_Ehdr, e_shoff, 0) + i * sizeof(Elf64_Shdr);
		if ((FIELD(Elf64_Shdr, sh_flags, at) & code) == code)
			text[nr++] = (struct sfg_image) {
				.addr = FIELD(Elf64_Shdr, sh_addr, at),
				.len = FIELD(Elf64_Shdr, sh_size, at),
			};
	}
	return nr;
}

/* Ranges may overlap. */
static bool is_inside(const struct sfg_image *text, size_t nr,
		      const struct sfjit_function *fde)
{
	uint64_t done = 0;
	size_t i = 0;

	while (i < nr && done < fde->size)
		if (fde->addr + done - text[i].addr < text[i].len) {
			done = text[i].addr + text[i].len - fde->addr;
			i = 0;
		} else {
			i++;
		}
	return done >= fde->size;
}

/* Not by libelf. */
static void require_section(const uint8_t *file, size_t len)
{
	struct sfg_image text[2 * MOST_RANGES];
	struct sfg_fdes fdes;
	size_t nr, i;

	read_section(files.output, files.output_len, 0, &fdes);
	if (FIELD(Elf64_Ehdr, e_type, 0) != ET_REL &&
	    FIELD(Elf64_Ehdr, e_phnum, 0) <= MOST_RANGES &&
	    FIELD(Elf64_Ehdr, e_shnum, 0) <= MOST_RANGES) {
		nr = code_segments(file, len, text);
		nr += code_sections(file, len, text + nr);
		for (i = 0; i < fdes.nr && nr; i++)
			REQUIRE(is_inside(text, nr, &fdes.fdes[i]));
	}
	sfg_free_fdes(&fdes);
}

static void require_message(void)
{
	static const char want[] = "sframegen: " INPUT_NAME ": ";

	REQUIRE(files.err.lines == 1);
	REQUIRE(!memcmp(files.err.first, want, sizeof(want) - 1));
	REQUIRE(!files.output && !files.out.len);
}

static bool lacks_sframe(const uint8_t *file, size_t len)
{
	uint16_t machine = FIELD(Elf64_Ehdr, e_machine, 0);

	return machine == EM_RISCV || machine == EM_PPC64;
}

/* Of a machine without SFrame there is a template, and a message. */
static void require_no_message(const struct command *command, bool trial,
			       const uint8_t *file, size_t len)
{
	static const char want[] = "SFrame has no ABI number";

	if (!command->writes || trial || !lacks_sframe(file, len)) {
		REQUIRE(!files.err.len);
		return;
	}
	REQUIRE(!command->section && files.err.lines == 1);
	REQUIRE(memmem(files.err.first, sizeof(files.err.first), want,
		       sizeof(want) - 1));
}

static void run_command(const struct command *command, unsigned int max_rows,
			bool trial, const uint8_t *file, size_t len)
{
	struct options opts = {
		.input = INPUT_NAME, .output = OUTPUT_NAME,
		.max_rows = max_rows, .trial_abi = trial,
	};
	int ret;

	files_start(file, len);
	ret = command->run(&opts);
	files_end();
	if (ret < 0) {
		REQUIRE(ret != -ENOMEM || allocation_failed());
		require_message();
		return;
	}
	require_no_message(command, trial, file, len);
	REQUIRE(!files.output == !command->writes);
	if (command->section)
		require_section(file, len);
}

static void run(const uint8_t *data, size_t size)
{
	const struct command *command = &commands[data[0] & 3];
	uint8_t *file = exact_copy(data + HEAD, size - HEAD);

	fill_memory(0xa5);
	fail_allocation(data[1]);
	run_command(command, data[0] >> 2, false, file, size - HEAD);
	if (lacks_sframe(file, size - HEAD) || !(data[0] & 4)) {
		fail_allocation(data[1]);
		run_command(command, data[0] >> 2, true, file, size - HEAD);
	}
	fail_allocation(0);
	fill_memory(0);
	free(file);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

/* Numbers that a field of a table might have to be refused for. */
static uint64_t hostile_number(const uint8_t *file, size_t len,
			       unsigned int seed)
{
	const uint64_t numbers[] = {
		0, 1, 8, 24, 64, len - 1, len, len + 1, len / 2, 0x7fffffff,
		0xffffffff, 0x8000000000000000, -1, -8, -len, file[seed % len],
	};

	return numbers[seed / 7 % ARRAY_SIZE(numbers)];
}

/* One field of 2, 4 or 8 bytes, where tables have them. */
static void change_field(uint8_t *file, size_t len, unsigned int seed)
{
	unsigned int width = 2 << seed % 3, i;
	uint64_t v = hostile_number(file, len, seed / 3);
	size_t at = seed / 11 % (len / width) * width;

	for (i = 0; i < width; i++)
		file[at + i] = v >> 8 * (file[EI_DATA] == ELFDATA2MSB ?
					 width - 1 - i : i);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	if (size < HEAD + sizeof(Elf64_Ehdr) || seed % 3 == 0)
		return LLVMFuzzerMutate(data, size, max);
	change_field(data + HEAD, size - HEAD, seed / 3);
	return size;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	files_init();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= HEAD)
		run_bounded(run, data, size);
	return 0;
}
