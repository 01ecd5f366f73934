// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Find the starts and ends of functions without symbols.
 */
#include <errno.h>
#include <string.h>
#include <unwind.h>

#include "reader.h"

/* libgcc exports this since GCC_3.0, but declares it in no header. */
struct dwarf_eh_bases {
	void	*tbase;
	void	*dbase;
	void	*func;
};

const unsigned char *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

/* The encoding that all ELF linkers and compilers use for code. */
#define DW_EH_PE_PCREL_SDATA4	0x1b

static uint32_t u32_at(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static const unsigned char *skip_leb(const unsigned char *bytes)
{
	while (*bytes++ & 0x80)
		;
	return bytes;
}

/* The encoding of addresses in a CIE, or 0. */
static unsigned char encoding(const unsigned char *cie)
{
	const unsigned char *augmentation = cie + 9, *data, *letter;

	if (*augmentation != 'z')
		return 0;
	data = augmentation + strlen((const char *)augmentation) + 1;
	/* Skip the alignments, the return address column, and a length. */
	data = skip_leb(skip_leb(skip_leb(skip_leb(data))));
	for (letter = augmentation + 1; *letter; letter++) {
		if (*letter == 'R')
			return *data;
		if (*letter == 'P' && (*data & 0x0f) != 0x0b)
			return 0;
		data += *letter == 'P' ? 5 : *letter == 'L';
	}
	return 0;
}

int lua_find_text(uintptr_t pc, struct lua_text *text)
{
	struct dwarf_eh_bases bases;
	const unsigned char *fde = _Unwind_Find_FDE((void *)pc, &bases);

	if (!fde || encoding(fde + 4 - (int32_t)u32_at(fde + 4)) !=
		    DW_EH_PE_PCREL_SDATA4)
		return -ENOENT;
	text->start = (uintptr_t)bases.func;
	text->length = u32_at(fde + 12);
	return lua_is_in(text, pc) ? 0 : -ENOENT;
}

struct walk {
	uintptr_t	*frames;
	int		nr, max;
};

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;

	if (walk->nr == walk->max)
		return _URC_END_OF_STACK;
	walk->frames[walk->nr++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

__attribute__((noinline))
int lua_walk(uintptr_t *frames, int max)
{
	struct walk walk = { frames, 0, max };

	_Unwind_Backtrace(note, &walk);
	/* The first frame is lua_walk()'s own. */
	if (walk.nr)
		memmove(frames, frames + 1, --walk.nr * sizeof(*frames));
	return walk.nr;
}
