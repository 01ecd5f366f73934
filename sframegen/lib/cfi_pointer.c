// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Encoded pointers of .eh_frame (DW_EH_PE_*). */
#include "cfi.h"
#include "dwarf_cfi.h"

static uint64_t sign_extend(uint64_t v, unsigned int bits)
{
	return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

bool sfg_cfi_known_format(unsigned int encoding)
{
	unsigned int format = encoding & DW_EH_PE_format;

	return format <= DW_EH_PE_udata8 ||
	       (format >= DW_EH_PE_sleb128 && format <= DW_EH_PE_sdata8);
}

uint64_t sfg_cfi_read_value(struct cursor *c, unsigned int encoding)
{
	switch (encoding & DW_EH_PE_format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return cursor_sleb(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_sdata2:
		return sign_extend(cursor_u16(c), 16);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return sign_extend(cursor_u32(c), 32);
	}
	c->bad = true;
	return 0;
}

/* Aligns to the size of an address in the address space, not in the section. */
static void align_pointer(const struct cfi_table *t, struct cursor *c)
{
	cursor_take(c, -(t->addr + c->pos) & 7);
}

/*
 * Relative to text, data or a function (DW_EH_PE_textrel, datarel, funcrel)
 * needs a base that only a process has; callers that register frames there know
 * the first two. Indirect needs the process's memory, where the dynamic linker
 * stored the pointer. LSB, "DWARF Extensions": the low 4 bits of an encoding
 * are size and sign, the next 3 the base.
 */
enum sfg_reason sfg_cfi_read_pointer(const struct cfi_table *t,
				     struct cursor *c, unsigned int encoding,
				     uint64_t *value)
{
	unsigned int application = encoding & DW_EH_PE_application;
	uint64_t base = 0;
	bool known = !(encoding & DW_EH_PE_indirect);
	enum sfg_reason reason = SFG_COVERED;

	switch (application) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_aligned:
		align_pointer(t, c);
		break;
	case DW_EH_PE_pcrel:
		base = t->addr + c->pos;
		break;
	case DW_EH_PE_textrel:
		base = t->text_base;
		known &= t->bases;
		break;
	case DW_EH_PE_datarel:
		base = t->data_base;
		known &= t->bases;
		break;
	default:
		known = false;
	}
	if (t->relocated && known &&
	    !sfg_has_offset(t->relocated, t->nr_relocated, c->pos))
		reason = SFG_R_ADDRESS;
	*value = base + sfg_cfi_read_value(c, encoding);
	return known ? reason : SFG_R_ENCODING;
}
