/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What a loaded ELF module says about itself in its program headers.
 */
#ifndef SFJIT_PRELOAD_IMAGE_H
#define SFJIT_PRELOAD_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sframegen.h>

#define IMAGE_MAX_TEXT	8

/* Addresses are link-time ones; data is where it is in this process. */
struct image {
	const struct dl_phdr_info *info;
	uintptr_t bias;
	struct sfg_image cfi;	/* .eh_frame; may end behind its end, see below;
				 * empty: only Go's table or instructions
				 * are known
				 */
	bool is_debug_frame;	/* cfi is .debug_frame, in the arena */
	uint64_t index, index_length;		/* .eh_frame_hdr, or zeros */
	struct sfg_image text[IMAGE_MAX_TEXT];	/* sorted */
	struct sfg_image code[IMAGE_MAX_TEXT];	/* text without known data */
	size_t nr_text;
	const uint8_t *id;	/* build-id; without one, a sum of CFI and go */
	size_t id_length;
	uint64_t own_id[2];
	struct sfg_go go;	/* image_find_go() */
	bool searched_go, has_go;
};

/*
 * On failure, *reason is a constant string. The image refers to the module, to
 * 'info', and to itself: it must not be copied.
 */
int image_read(struct image *image, const struct dl_phdr_info *info,
	       const char **reason);
/* The same of a copy of a module that is mapped from 'file'; -1: none. */
int image_read_copy(struct image *image, const struct dl_phdr_info *info,
		    int file, const char **reason);

/*
 * Finds the end of the CFI where nothing marks it, for who reads it. This looks
 * at the whole index.
 */
void image_measure(struct image *image);

/* Of Go's functions. This looks at all constant data. */
bool image_find_go(struct image *image);

/* The same number only for the same module. */
uint64_t image_identity(const struct image *image);

#endif /* SFJIT_PRELOAD_IMAGE_H */
