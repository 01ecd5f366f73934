// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <sfjit/format.h>
#include <sfjit/sframe.h>

#include "made.h"
#include "measure.h"

#define PAGE		4096
#define MAX_FDES	(1u << (MADE_MAX_PROBES - 1))
#define REG_SP		7

/* The index ends where the page of the first row begins. */
#define INDEX_SIZE	((size_t)MAX_FDES * sizeof(struct sframe_fde))
#define INDEX_END	(INDEX_SIZE + PAGE)
#define SECTION_SIZE	(INDEX_END + 2 * PAGE)

struct signal_section {
	struct sframe_header header;
	struct sframe_fde fde;
	struct sframe_fde_attr attr;
} __attribute__((packed));

#define FLEX_SP		(REG_SP << 3 | SFRAME_FLEX_REG_P | SFRAME_FLEX_DEREF_P)
#define FLEX_CFA	SFRAME_FLEX_DEREF_P

struct kind {
	uint8_t type;
	uint8_t nr_words;
	int8_t words[6];
};

static const struct kind kinds[MADE_NR_KINDS] = {
	[MADE_CFA] = { SFRAME_FDE_TYPE_DEFAULT, 1, { 32 } },
	[MADE_CFA_FP] = { SFRAME_FDE_TYPE_DEFAULT, 2, { 32, -16 } },
	[MADE_FLEX_CFA] = { SFRAME_FDE_TYPE_FLEX, 2, { FLEX_SP, 0 } },
	[MADE_FLEX_RA] = {
		SFRAME_FDE_TYPE_FLEX, 4, { FLEX_SP, 0, FLEX_CFA, -8 }
	},
	[MADE_FLEX_FP] = {
		SFRAME_FDE_TYPE_FLEX, 5, { FLEX_SP, 0, 0, FLEX_CFA, -16 }
	},
	[MADE_FLEX_ALL] = {
		SFRAME_FDE_TYPE_FLEX, 6,
		{ FLEX_SP, 0, FLEX_CFA, -8, FLEX_CFA, -16 }
	},
};

static uint8_t *text, *sections;
static struct signal_section signal_section;

/* The current section and its index. */
static uint8_t *section;

/* Entries of 0 describe their own address, above all text. */
static struct sframe_fde *first_fde;

void made_choose(size_t nr)
{
	section = sections + nr * SECTION_SIZE;
	first_fde = (void *)(section + INDEX_END - INDEX_SIZE);
}

void made_map(size_t nr, size_t nr_sections)
{
	size_t text_size = 2 * nr * PAGE, size = nr_sections * SECTION_SIZE;

	text = map_memory(text_size + size, PROT_READ | PROT_EXEC);
	sections = text + text_size;
	if (mprotect(sections, size, PROT_READ | PROT_WRITE))
		die("made table: mprotect: %m");
	made_choose(0);
}

uint64_t made_text(size_t i)
{
	return (uintptr_t)text + 2 * i * PAGE;
}

static struct sframe_header empty_header(void)
{
	return (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = SFRAME_ABI_AMD64_LE,
		.cfa_fixed_ra_offset = -8,
	};
}

static void fill_header(const struct made_table *table, size_t fres_size)
{
	uint8_t *behind = section + sizeof(struct sframe_header);
	struct sframe_header header = empty_header();

	header.num_fdes = 1u << (table->probes - 1);
	header.num_fres = table->rows;
	header.fre_len = fres_size;
	header.fdes_off = (uint8_t *)first_fde - behind;
	header.fres_off = section + INDEX_END - behind;
	memcpy(section, &header, sizeof(header));
}

/* Makes the pages that a search reads present and distinct. */
static void touch_index(uint32_t nr)
{
	while (nr /= 2)
		memset(&first_fde[nr], 0, sizeof(*first_fde));
}

static uint8_t *put_number(uint8_t *at, int32_t number, unsigned int log2_size)
{
	memcpy(at, &number, 1 << log2_size);
	return at + (1 << log2_size);
}

static uint8_t *put_row(uint8_t *at, const struct made_table *table,
			uint32_t start)
{
	const struct kind *kind = &kinds[table->kind];
	unsigned int i;

	at = put_number(at, start, table->start_size);
	/* The lowest bit: a DEFAULT CFA is relative to the stack pointer. */
	*at++ = 1 | kind->nr_words << 1 | table->word_size << 5;
	for (i = 0; i < kind->nr_words; i++)
		at = put_number(at, kind->words[i], table->word_size);
	return at;
}

static size_t fill_rows(const struct made_table *table, uint8_t *fres)
{
	const struct sframe_fde_attr attr = {
		.num_fres = table->rows,
		.info = table->start_size |
			(table->mask ? SFRAME_FDE_PCMASK : 0),
		.info2 = kinds[table->kind].type,
		.rep_size = table->mask ? 255 : 0,
	};
	uint8_t *at = fres;
	uint32_t i;

	memcpy(at, &attr, sizeof(attr));
	at += sizeof(attr);
	for (i = 0; i < table->rows; i++)
		at = put_row(at, table, i);
	return at - fres;
}

static void fill_fde(struct sframe_fde *fde, size_t i, uint32_t fre_off)
{
	fde->func_start = made_text(i) - (uintptr_t)fde;
	fde->func_size = PAGE;
	fde->fre_off = fre_off;
}

static void call_register(size_t i, const void *address, size_t length)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.text_start = made_text(i),
		.text_length = PAGE,
	};

	if (prctl(PR_SFRAME_REGISTER, made_text(i), address, length, &opts))
		die("PR_SFRAME_REGISTER of a made table: %m");
}

void made_register(const struct made_table *table, size_t i)
{
	uint32_t fre_off = PAGE - table->tail;
	size_t size = fill_rows(table, section + INDEX_END + fre_off);

	fill_header(table, fre_off + size);
	fill_fde(first_fde, i, fre_off);
	touch_index(1u << (table->probes - 1));
	call_register(i, section, SECTION_SIZE);
}

void made_unregister(size_t i)
{
	if (prctl(PR_SFRAME_UNREGISTER, made_text(i), 0, 0, 0))
		die("PR_SFRAME_UNREGISTER: %m");
}

void made_register_signal(size_t i)
{
	signal_section.header = empty_header();
	signal_section.header.num_fdes = 1;
	signal_section.header.fre_len = sizeof(signal_section.attr);
	signal_section.header.fres_off = sizeof(signal_section.fde);
	signal_section.attr.info = SFRAME_FDE_SIGNAL;
	fill_fde(&signal_section.fde, i, 0);
	call_register(i, &signal_section, sizeof(signal_section));
}

void made_register_other(size_t i)
{
	call_register(i, &signal_section, sizeof(signal_section));
}
