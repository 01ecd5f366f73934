// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Go's linker writes a table of all functions, .gopclntab, which the runtime needs
 * and strip leaves. It begins with a header:
 *
 *	Go 1.2		magic, number of functions
 *	Go 1.16		... number of files, offsets of five parts
 *	Go 1.18, 1.20	... address of the text before the offsets; Go 1.26
 *			leaves it 0
 *
 * One of the parts, of Go 1.2 what follows the header, begins with an index: pairs
 * of an address and the offset of a record, both from Go 1.18 on of 32 bits, and the
 * address from the text. After the last pair is the end of the text. Offsets of
 * records are from the part, others from the header or their part.
 */
#include "cursor.h"
#include "go.h"

#define WORD		8

enum { GO_1_2, GO_1_16, GO_1_18, GO_1_20, NR_LAYOUTS };

/*
 * @parts:	places of words in the header: the address of the text, and where
 *		names, deltas and functions begin; 0: there is none
 * @half:	bytes of a half of a pair
 * @name:	places of fields in a record; no @flags: 0
 * @record:	bytes that are used
 */
static const struct layout {
	uint32_t magic;
	struct { uint8_t text, names, deltas, functions; } parts;
	uint8_t half;
	uint8_t name, deltas, flags, record;
} layouts[NR_LAYOUTS] = {
	[GO_1_2] = {
		.magic = 0xfffffffb,
		.half = 8, .name = 8, .deltas = 20, .record = 24,
	},
	[GO_1_16] = {
		.magic = 0xfffffffa, .parts = { 0, 24, 48, 56 },
		.half = 8, .name = 8, .deltas = 20, .record = 24,
	},
	[GO_1_18] = {
		.magic = 0xfffffff0, .parts = { 24, 32, 56, 64 },
		.half = 4, .name = 4, .deltas = 16, .flags = 37, .record = 38,
	},
	[GO_1_20] = {
		.magic = 0xfffffff1, .parts = { 24, 32, 56, 64 },
		.half = 4, .name = 4, .deltas = 16, .flags = 41, .record = 42,
	},
};

#define HEADER		72	/* the longest */

/* Flags of functions: of those that Go calls SPWRITE and ASM. */
#define WRITES_SP	0x2
#define IS_ASSEMBLY	0x4

/* The machine's smallest distance of instructions, which deltas count in. */
static unsigned int quantum_of(unsigned int abi)
{
	return abi == SFRAME_ABI_AMD64_LE ? 1 : 0;
}

static struct cursor at(const struct sfg_go *go, uint64_t offset)
{
	struct cursor c;

	cursor_init(&c, go->table.data, offset < go->table.len ?
		    offset : go->table.len, go->table.len, false);
	return c;
}

static uint64_t half_at(const struct sfg_go *go, uint64_t index,
			unsigned int which, bool *bad)
{
	unsigned int half = layouts[go->layout].half;
	struct cursor c = at(go, go->functions + (2 * index + which) * half);
	uint64_t value = cursor_uint(&c, half);

	*bad |= c.bad;
	return value;
}

/* Of a function, or of the end of the text; link-time. */
static uint64_t address_at(const struct sfg_go *go, uint64_t index, bool *bad)
{
	uint64_t address = half_at(go, index, 0, bad);

	return layouts[go->layout].half == WORD ? address - go->bias :
						  address + go->text;
}

static uint64_t record_at(const struct sfg_go *go, uint64_t index, bool *bad)
{
	uint64_t offset = half_at(go, index, 1, bad);

	*bad |= offset >= go->table.len;
	return go->layout == GO_1_2 ? offset : go->functions + offset;
}

/* ---- The header --------------------------------------------------------- */

static int find_layout(struct sfg_go *go, struct sfg_error *err)
{
	struct cursor c = at(go, 0);
	uint32_t magic = cursor_u32(&c);
	uint16_t zeros = cursor_u16(&c);
	uint8_t quantum = cursor_u8(&c), pointer = cursor_u8(&c);

	if (c.bad || zeros || !quantum || pointer != WORD)
		return sfg_fail(err, 0, "not a table of Go's functions",
				-EINVAL);
	if (quantum != quantum_of(go->abi))
		return sfg_fail(err, 6, "rows from Go's table are for AMD64",
				-ENOTSUP);
	while (go->layout < NR_LAYOUTS && layouts[go->layout].magic != magic)
		go->layout++;
	if (go->layout == NR_LAYOUTS)
		return sfg_fail(err, 0, "a table of a Go version that is not "
				"known", -ENOTSUP);
	return 0;
}

static size_t part_at(const struct sfg_go *go, uint8_t place)
{
	struct cursor c = at(go, place);
	uint64_t offset = place ? cursor_u64(&c) : 0;

	return c.bad || offset > go->table.len ? go->table.len : offset;
}

static int read_header(struct sfg_go *go, struct sfg_error *err)
{
	const struct layout *l = &layouts[go->layout];
	struct cursor c = at(go, WORD);
	uint64_t nr = cursor_u64(&c);

	go->names = part_at(go, l->parts.names);
	go->deltas = part_at(go, l->parts.deltas);
	go->functions = go->layout == GO_1_2 ? 2 * WORD :
			part_at(go, l->parts.functions);
	/* The index has a half more than it has functions. */
	if (c.bad || !nr || nr > UINT32_MAX ||
	    nr > (go->table.len - go->functions) / l->half / 2)
		return sfg_fail(err, WORD, "Go's table is truncated", -EINVAL);
	go->nr = nr;
	return 0;
}

/* ---- Where the text is -------------------------------------------------- */

/*
 * The runtime's record of a module begins with the addresses of the header and of
 * parts, each with two lengths, as here from Go 1.18 to 1.26.
 */
enum {
	IN_HEADER = 0, IN_NAMES = 1, IN_DELTAS = 10, IN_FUNCTIONS = 13,
	IN_FIRST = 20, IN_LAST = 21, IN_TEXT = 22, NR_WORDS = 23,
};

static bool is_module(const struct sfg_go *go, const uint64_t *words,
		      uint64_t header)
{
	struct sfg_go moved = *go;
	bool bad = false;

	moved.text = words[IN_TEXT];
	return words[IN_NAMES] == header + go->names &&
	       words[IN_DELTAS] == header + go->deltas &&
	       words[IN_FUNCTIONS] == header + go->functions &&
	       words[IN_FIRST] == address_at(&moved, 0, &bad) &&
	       words[IN_LAST] == address_at(&moved, go->nr, &bad) && !bad;
}

static bool search_module(struct sfg_go *go, const struct sfg_image *data)
{
	const uint64_t header = go->table.addr + go->bias;
	uint64_t words[NR_WORDS];
	size_t i = -data->addr % WORD, k;
	struct cursor c;

	for (; data->len >= sizeof(words) && i <= data->len - sizeof(words);
	     i += WORD) {
		cursor_init(&c, data->data, i, data->len, false);
		if (cursor_u64(&c) != header)
			continue;
		words[IN_HEADER] = header;
		for (k = 1; k < NR_WORDS; k++)
			words[k] = cursor_u64(&c);
		if (!is_module(go, words, header))
			continue;
		go->text = words[IN_TEXT] - go->bias;
		return true;
	}
	return false;
}

static int find_text(struct sfg_go *go, const struct sfg_go_input *in,
		     struct sfg_error *err)
{
	const struct layout *l = &layouts[go->layout];
	struct cursor c = at(go, l->parts.text);
	size_t i;

	if (!l->parts.text)
		return 0;
	go->text = cursor_u64(&c) - go->bias;
	if (go->text + go->bias)
		return 0;
	for (i = 0; i < in->nr_data; i++)
		if (search_module(go, &in->data[i]))
			return 0;
	return sfg_fail(err, l->parts.text, "Go's table does not tell where its"
			" text is", -ENOENT);
}

/* ---- The functions ------------------------------------------------------ */

static bool is_record(const struct sfg_go *go, uint32_t index)
{
	const struct layout *l = &layouts[go->layout];
	bool bad = false;
	uint64_t offset = record_at(go, index, &bad);
	struct cursor c = at(go, offset);
	uint64_t first = cursor_uint(&c, l->half);

	return !bad && cursor_take(&c, l->record - l->half) &&
	       first == half_at(go, index, 0, &bad);
}

/* By address, each with a record that has the same address. */
static int check_functions(struct sfg_go *go, const struct sfg_image *text,
			   size_t nr_text, struct sfg_error *err)
{
	uint64_t start, last;
	bool bad = false;
	uint32_t i;

	start = last = address_at(go, 0, &bad);
	for (i = 0; i < go->nr; i++) {
		if (address_at(go, i, &bad) < last || !is_record(go, i))
			return sfg_fail(err, go->functions,
					"functions in Go's table are not "
					"sorted, or have no records", -EINVAL);
		last = address_at(go, i, &bad);
	}
	go->text = layouts[go->layout].half == WORD ? start : go->text;
	go->text_end = address_at(go, go->nr, &bad);
	if (bad || go->text_end < last || go->text_end == start ||
	    !sfg_range_of(text, nr_text, start, go->text_end - start))
		return sfg_fail(err, go->functions, "functions in Go's table "
				"are outside of the text", -EINVAL);
	return 0;
}

int sfg_open_go(struct sfg_go *go, const struct sfg_go_input *in,
		struct sfg_error *err)
{
	struct sfg_go new = {
		.abi = in->abi, .table = in->table, .bias = in->bias,
	};
	int ret;

	if (!quantum_of(in->abi))
		return sfg_fail(err, 0, "rows from Go's table are for AMD64",
				-ENOTSUP);
	ret = find_layout(&new, err);
	if (!ret)
		ret = read_header(&new, err);
	if (!ret)
		ret = find_text(&new, in, err);
	if (!ret)
		ret = check_functions(&new, in->text, in->nr_text, err);
	if (!ret)
		*go = new;
	return ret;
}

/* Tables that look like one but are none, before the search is given up. */
#define TRIES_MOST	8

static bool begins_with_header(const struct sfg_go_input *in)
{
	struct sfg_go go = { .abi = in->abi, .table = in->table };

	return !find_layout(&go, NULL);
}

int sfg_find_go(struct sfg_go *go, const struct sfg_go_input *in,
		struct sfg_error *err)
{
	const struct sfg_image *all = &in->table;
	struct sfg_go_input from = *in;
	unsigned int tries = 0;
	const uint8_t *p;
	size_t i;
	int first = 0, ret;

	if (!quantum_of(in->abi))
		return sfg_fail(err, 0, "rows from Go's table are for AMD64",
				-ENOTSUP);
	for (i = -all->addr % WORD; i < all->len && tries < TRIES_MOST;
	     i += WORD) {
		p = (const uint8_t *)all->data + i;
		/* Little else has the size of a pointer there. */
		if (all->len - i < HEADER || p[7] != WORD)
			continue;
		from.table = (struct sfg_image) {
			p, all->len - i, all->addr + i,
		};
		if (!begins_with_header(&from))
			continue;
		ret = sfg_open_go(go, &from, tries++ ? NULL : err);
		if (!ret)
			return 0;
		/* The caller tries again with data if one needs them. */
		if (tries == 1 || ret == -ENOENT)
			first = ret;
	}
	return tries ? first : sfg_fail(err, 0, "no table of Go's functions",
					-ENOENT);
}

/* Those that matter are shorter. */
#define NAME_MOST	64

static const char *name_at(const struct sfg_go *go, uint64_t offset)
{
	struct cursor c = at(go, offset);
	unsigned int i = 0;

	while (i < NAME_MOST && cursor_u8(&c))
		i++;
	return c.bad || i == NAME_MOST ? "" :
	       (const char *)go->table.data + offset;
}

bool sfg_go_function(const struct sfg_go *go, uint32_t index,
		     struct go_function *f)
{
	const struct layout *l = &layouts[go->layout];
	bool bad = false;
	uint64_t record = record_at(go, index, &bad);
	struct cursor name = at(go, record + l->name);
	struct cursor deltas = at(go, record + l->deltas);
	struct cursor flags = at(go, record + l->flags);
	uint8_t flag = l->flags ? cursor_u8(&flags) : IS_ASSEMBLY | WRITES_SP;
	uint32_t offset;

	f->start = address_at(go, index, &bad);
	f->end = address_at(go, (uint64_t)index + 1, &bad);
	f->name = name_at(go, go->names + cursor_u32(&name));
	offset = cursor_u32(&deltas);
	f->deltas = offset ? go->deltas + offset : 0;
	f->is_compiled = !(flag & IS_ASSEMBLY);
	f->writes_sp = flag & WRITES_SP;
	return !bad && !name.bad && !deltas.bad && !flags.bad &&
	       f->start < f->end;
}

bool sfg_go_find(const struct sfg_go *go, uint64_t addr, uint32_t *index)
{
	uint32_t lo = 0, hi = go->nr, mid;
	bool bad = false;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (address_at(go, mid, &bad) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*index = lo - 1;
	return lo && addr < go->text_end && !bad;
}

/*
 * Pairs of numbers: the change of the value, which begins at -1 and has its sign in
 * the lowest bit, and the length of the code. A change of 0 is the end, but in the
 * first pair.
 */
bool sfg_go_next_delta(struct go_deltas *d, struct go_delta *delta)
{
	const struct go_function *f = d->f;
	bool first = !d->at;
	struct cursor c = at(d->go, first ? f->deltas : d->at);
	uint64_t change = cursor_uleb(&c), length = cursor_uleb(&c);

	if (first) {
		d->pc = f->start;
		d->value = -1;
	}
	if (!f->deltas || c.bad || (!change && !first) || change > UINT32_MAX ||
	    !length || length > UINT32_MAX || d->pc >= f->end)
		return false;
	length *= quantum_of(d->go->abi);
	if (length > f->end - d->pc)
		length = f->end - d->pc;
	d->at = c.pos;
	d->value = (uint32_t)d->value +
		   ((uint32_t)change >> 1 ^ -((uint32_t)change & 1));
	*delta = (struct go_delta) { d->pc, d->pc + length, d->value };
	d->pc += length;
	return true;
}
