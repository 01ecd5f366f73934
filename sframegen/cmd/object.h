/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* The parts of an ELF file that the commands use. */
#ifndef SFRAMEGEN_OBJECT_H
#define SFRAMEGEN_OBJECT_H

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include <sframegen.h>

/*
 * Bytes that we read of a file at most: areas of an SFrame section have 32-bit
 * lengths.
 */
#define MAX_READ	(4ULL << 30)

/* Address of a section that is not loaded. */
#define NOWHERE		UINT64_MAX

/* Bytes of a file, and their offset in it. */
struct object_part {
	struct sfg_image image;
	uint64_t file_offset;
	uint8_t *bytes;		/* image.data, to be freed */
	/* ET_REL: where the last of its sections begins in the image */
	size_t last_section;
	/* ET_REL: sorted offsets where relocations gave an address */
	size_t *relocated;
	size_t nr_relocated;
};

/* A symbol table; 'indices' are those of sections above 0xff00, or NULL. */
struct object_symtab {
	Elf_Data *symbols, *indices;
};

/* Executable code, and where its bytes are in the file. */
struct object_code {
	uint64_t addr, len, file_offset;
};

/* A part of the code that was read. */
#define WINDOW_SIZE	65536

struct object_window {
	uint64_t addr;
	size_t len;
	uint8_t bytes[WINDOW_SIZE];
};

struct object_symbol {
	const char *name;	/* borrowed from the file */
	uint64_t addr, size;
};

/* Segments that are read for Go's table. */
#define MOST_GO_BYTES	16

struct object {
	const char *path;
	int fd;
	uint64_t len;		/* when it was opened */
	uint64_t left;		/* of MAX_READ */
	Elf *elf;
	GElf_Ehdr ehdr;
	unsigned int abi;
	bool *in_libelf;	/* sections already counted in 'left' */
	uint64_t *section_addr;	/* ET_REL: assigned, or NOWHERE */
	size_t nr_sections;

	struct object_code *segments;	/* sorted, as the text */
	struct sfg_image *text;		/* without data */
	size_t nr_text;
	uint64_t text_left;		/* of the file's length */
	struct object_window *window;	/* of object_text_at() */
	struct sfg_image *code;		/* executable sections in the text */
	size_t nr_code;
	struct object_part cfi;
	unsigned int cfi_flags;	/* SFG_INPUT_* */
	size_t cfi_listed;	/* as in struct sfg_input */
	bool is_debug_file;	/* the code is in another file */
	struct object_part debug_frame;	/* besides .eh_frame */
	const char *debug_frame_unusable;	/* reason, or NULL */
	struct object_part sframe;	/* image.data NULL: has none */
	uint64_t eh_frame_hdr_len;

	struct object_symbol *functions;	/* object_read_symbols() */
	size_t nr_functions;
	struct sfg_go go;	/* object_read_go() */
	bool has_go;
	const char *go_unusable;	/* why, or NULL */
	uint8_t *go_bytes[MOST_GO_BYTES];	/* of the table and data */
	unsigned int nr_go_bytes;
	uint64_t *entries, *no_return;	/* as in struct sfg_input */
	size_t nr_entries, nr_no_return;
};

/* All print their message and return -errno; object_close() always works. */
int object_open(struct object *f, const char *path);
/* Takes over a regular file of that length, or the error of opening it. */
int object_open_fd(struct object *f, const char *path, int fd, uint64_t len);
/* Uses the trial number if SFrame has none. */
void object_try_abi(struct object *f);
/* Text and CFI. */
int object_read_cfi(struct object *f);
/* Call before it. Reads Go's table; a missing or unusable one is no error. */
int object_read_go(struct object *f);
/* CFI besides .eh_frame. An unusable one is no error. */
void object_read_debug_frame(struct object *f);
int object_read_sframe(struct object *f);
int object_read_symbols(struct object *f);
/* Addresses that help to analyse code. */
int object_read_entries(struct object *f);
/* All of these that a table is made of; 'cfi_only': of CFI alone. */
int object_read_sources(struct object *f, bool cfi_only);
/* Whether a relocation of an object file changes [addr, addr + size). */
bool object_is_relocated(struct object *f, uint64_t addr, uint64_t size);
void object_close(struct object *f);

/* Offset in the file of a byte of the CFI. */
uint64_t object_cfi_offset(struct object *f, size_t offset);
/*
 * Bytes of the text, valid until the next call, at most a window; NULL: they
 * cannot be read.
 */
const void *object_text_at(void *object, uint64_t addr, size_t len);
/* Offset in the file of code at an address of an object file. */
uint64_t object_file_offset(struct object *f, uint64_t addr);
/* Function at an address, else NULL. */
const struct object_symbol *object_find_function(const struct object *f,
						 uint64_t addr);

/* "sframegen: FILE: 0xOFFSET: reason"; returns code. */
int object_error(const struct object *f, uint64_t offset, int code,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether the address of an FDE of a .sframe section is known. */
bool object_knows_fde(const struct object_part *sframe,
		      const struct sfg_section *section, uint32_t index);

/* Between the files object_*.c. */
bool object_is_big_endian(const struct object *f);
/* Copies bytes of the file, which may have shrunk since it was opened. */
int object_read(const struct object *f, uint64_t offset, void *data,
		size_t len);
/* Also allocates; -EFBIG: too much together with earlier reads. */
int object_load(struct object *f, uint64_t offset, uint64_t len,
		uint8_t **data);
/* Prints no message; object_unread() has one for an error. */
int object_try_load(struct object *f, uint64_t offset, uint64_t len,
		    uint8_t **data);
const char *object_unread(int error);
bool object_in_file(const struct object *f, uint64_t offset, uint64_t len);
bool object_section(struct object *f, size_t index, GElf_Shdr *shdr);
const char *object_section_name(struct object *f, const GElf_Shdr *shdr);
/* Its index, or 0. */
size_t object_find_section(struct object *f, const char *name,
			   GElf_Shdr *shdr);
/* Once. */
int object_read_text(struct object *f);
/* NULL: no such section, of another type, not all in the file, or too long. */
Elf_Data *object_section_data(struct object *f, size_t index, uint32_t type);
/* A string of a string table; "": none at this offset. */
const char *object_string(struct object *f, size_t index, uint64_t offset);
bool object_read_symtab(struct object *f, size_t index,
			struct object_symtab *table);
/* 'section' becomes 0 if the symbol has none: undefined, absolute, common. */
bool object_get_symbol(const struct object *f,
		       const struct object_symtab *table, size_t i,
		       GElf_Sym *sym, size_t *section);
/* Applies relocations of section 'target', which is at 'start' in the part. */
int object_relocate(struct object *f, struct object_part *part, size_t target,
		    size_t start);
bool object_is_compressed(struct object *f, size_t index,
			  const GElf_Shdr *shdr);
/* Allocates the bytes; 0, or an error and why. */
int object_decompress(struct object *f, size_t index, const GElf_Shdr *shdr,
		      uint8_t **data, uint64_t *len, const char **why);
int object_no_memory(const struct object *f);

/*
 * file.c: all return -errno, except that file_open_regular() returns the file. It,
 * file_read_whole() and file_begins_with() print their message.
 */
int file_open_regular(const char *path, uint64_t *len);
/* -ENODATA: the file is too short. */
int file_read(int fd, uint64_t offset, void *data, size_t len);
/* Exactly that size, so that ASan sees reads beyond; NULL: no memory. */
void *file_alloc(size_t len);
int file_read_whole(const char *path, uint8_t **data, size_t *len);
/* Returns 1 if so. */
int file_begins_with(const char *path, const void *magic, size_t len);

static inline struct sfg_input object_input(struct object *f)
{
	return (struct sfg_input) {
		.abi = f->abi, .flags = f->cfi_flags, .cfi = f->cfi.image,
		.cfi_listed = f->cfi_listed, .relocated = f->cfi.relocated,
		.nr_relocated = f->cfi.nr_relocated,
		.text = f->text, .nr_text = f->nr_text,
		.read_text = object_text_at, .read_arg = f,
		.code = f->code, .nr_code = f->nr_code,
		.entries = f->entries, .nr_entries = f->nr_entries,
		.no_return = f->no_return, .nr_no_return = f->nr_no_return,
		.go = f->has_go ? &f->go : NULL,
	};
}

#endif /* SFRAMEGEN_OBJECT_H */
