// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A live window and a producer that follows the rules: it publishes and
 * withdraws, store by store, also while a step reads. Code published before a
 * step began must unwind, other code must not.
 */
#include "input.h"

#define TEXT		0x7e0000000000UL
#define TEXT_SIZE	0x10000
#define SECTION		0x7e1000000000UL
#define STACK		0x7e2000000000UL
#define MAX_FUNCTIONS	32
#define MAX_STORES	4096
#define MAX_OPS		64

struct function {
	u32 start, size;
	u8 kind;
	s8 cfa;
	bool published, withdrawn;
};

struct change {
	u32 off;
	u32 size;
	u64 value;
	struct function *publishes, *withdraws;
};

static struct producer {
	struct function functions[MAX_FUNCTIONS];
	unsigned int nr, capacity;
	u32 fdes, fres, end, next_text;
	struct change changes[MAX_STORES];
	unsigned int first, behind;
	unsigned int rate;
} p;

enum kind { KIND_SP, KIND_TWO_ROWS, KIND_FP, KIND_BLOCKS, KIND_FLEX, NR_KINDS };

static u8 *section_bytes(void)
{
	return model.regions[REGION_SECTION].bytes;
}

static void do_store(void)
{
	struct change *change;

	if (p.first == p.behind)
		return;
	change = &p.changes[p.first++];
	put_number(section_bytes() + change->off, change->value, change->size);
	if (change->publishes)
		change->publishes->published = true;
	if (change->withdraws)
		change->withdraws->withdrawn = true;
}

static void produce(void)
{
	unsigned int i;

	for (i = 0; i < p.rate; i++)
		do_store();
}

static struct change *later(u32 off, u64 value, u32 size)
{
	struct change *change = &p.changes[p.behind++];

	*change = (struct change) { .off = off, .value = value, .size = size };
	return change;
}

#define RA_OFF		-8
#define FP_OFF		-16

/* Info byte of a row: so many words of a byte, and where the CFA starts from. */
#define FROM_SP(words)	((words) << 1 | 1)
#define FROM_FP(words)	((words) << 1)

/* What each machine has in a row: the CFA, the return address if not fixed. */
static u8 *put_row(u8 *at, u8 start, u8 info, u8 cfa)
{
	*at++ = start;
	*at++ = info + (MACHINE_RA ? 0 : FROM_FP(1));
	*at++ = cfa / MACHINE_SCALE;
	if (!MACHINE_RA)
		*at++ = (u8)RA_OFF;
	return at;
}

/* Attributes and rows of each kind. */
static unsigned int make_rows(const struct function *f, u8 *rows)
{
	u8 *at = rows + 5;

	memset(rows, 0, 5);
	put_number(rows, 1, 2);
	switch (f->kind) {
	case KIND_SP:
		at = put_row(at, 0, FROM_SP(1), f->cfa);
		break;
	case KIND_TWO_ROWS:
		put_number(rows, 2, 2);
		at = put_row(at, 0, FROM_SP(1), 8);
		at = put_row(at, 4, FROM_SP(2), f->cfa);
		*at++ = (u8)FP_OFF;
		break;
	case KIND_FP:
		at = put_row(at, 0, FROM_FP(2), f->cfa);
		*at++ = (u8)FP_OFF;
		break;
	case KIND_BLOCKS:
		put_number(rows, 2, 2);
		rows[2] = SFRAME_FDE_PCMASK;
		rows[4] = 16;
		at = put_row(at, 0, FROM_SP(1), 8);
		at = put_row(at, 9, FROM_SP(1), f->cfa);
		break;
	default:
		rows[3] = SFRAME_FDE_TYPE_FLEX;
		*at++ = 0;
		*at++ = FROM_FP(4);
		*at++ = MACHINE_SP << 3 | SFRAME_FLEX_REG_P;
		*at++ = f->cfa / MACHINE_SCALE;
		*at++ = SFRAME_FLEX_DEREF_P;
		*at++ = (u8)RA_OFF;
	}
	return at - rows;
}

static struct ref_frame expected(const struct function *f, u32 off)
{
	const struct ref_rule saved = { .base = REF_CFA, .load = true };
	struct ref_frame frame = {
		.cfa = { .base = REF_SP, .off = f->cfa + MACHINE_SAVED },
		.ra = saved,
		.flex = f->kind == KIND_FLEX,
	};

	frame.ra.off = RA_OFF;
	if ((f->kind == KIND_TWO_ROWS && off < 4) ||
	    (f->kind == KIND_BLOCKS && off % 16 < 9))
		frame.cfa.off = 8 + MACHINE_SAVED;
	if (f->kind == KIND_FP)
		frame.cfa.base = REF_FP;
	if (f->kind == KIND_FP || (f->kind == KIND_TWO_ROWS && off >= 4)) {
		frame.fp = saved;
		frame.fp.off = FP_OFF;
	}
	return frame;
}

/* Rows, then the entry, then the count. */
static void append(u8 a, u8 b)
{
	struct function *f = &p.functions[p.nr];
	u32 at = p.fdes + 16 * p.nr, i, part, size;
	u64 field = SECTION + at;
	u8 rows[16];

	if (p.nr == p.capacity || p.end + sizeof(rows) > SECTION_MAX ||
	    p.behind + 16 > MAX_STORES || p.next_text + 256 > TEXT_SIZE)
		return;
	*f = (struct function) {
		.start = p.next_text + (a >> 4),
		.size = 16 + (b & 63),
		.kind = a % NR_KINDS,
		.cfa = 16 + 8 * (b >> 6),
	};
	size = make_rows(f, rows);
	for (i = 0; i < size; i += part) {
		part = min(size - i, 4U);
		later(p.end + i, get_number(rows + i, part), part);
	}
	later(at + 12, p.end - p.fres, 4);
	later(at + 8, f->size, 4);
	later(at, TEXT + f->start - field, 8);
	p.nr++;
	later(offsetof(struct sframe_header, num_fdes), p.nr, 4)->publishes = f;
	p.end += size;
	p.next_text = f->start + f->size;
}

static void withdraw(u8 which)
{
	struct function *f;

	if (!p.nr || p.behind == MAX_STORES)
		return;
	f = &p.functions[which % p.nr];
	later(p.fdes + 16 * (f - p.functions) + 8, 0, 4)->withdraws = f;
}

static bool has_frame(const struct step *step)
{
	return step->reason != SFRAME_REASON_NO_FDE;
}

/* The stack is so that each row can be applied. */
static void judge(const struct step *step, const struct function *before,
		  const struct function *after, u32 off)
{
	struct ref_frame want = expected(before, off);
	bool may = after->published && !before->withdrawn;
	bool must = before->published && !after->withdrawn;

	if (!step->nr_reads)
		finding("no window was found");
	if (step->ret && has_frame(step))
		finding("a reason that a good producer does not give");
	if (must && !has_frame(step))
		finding("a published function does not unwind");
	if (!may && has_frame(step))
		finding("a function unwinds that is not there");
	if (has_frame(step) && !ref_same_frame(&step->frame, &want))
		finding("the frame of another function");
}

static void step(u8 which, u8 where, u8 how)
{
	struct function *f = &p.functions[which % (p.nr ? p.nr : 1)], before;
	struct unwind_user_state state = {
		.sp = STACK,
		.fp = STACK + 64,
		.ws = 8,
		.sframe.budget = 4096,
		.topmost = true,
		.exact_ip = true,
	};
	const struct step *done;
	u32 off;

	if (!p.nr)
		return;
	before = *f;
	off = where % f->size;
	state.ip = TEXT + f->start + off;

	p.rate = how >> 1 & 15;
	model.at_access = produce;
	done = compare_step(&state);
	model.at_access = NULL;
	judge(done, &before, f, off);
}

static void begin(u8 capacity, u8 gap)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = SFRAME_WINDOW_LIVE,
		.text_start = TEXT,
		.text_length = TEXT_SIZE,
	};
	struct sframe_header header = {
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = MACHINE_ABI,
		.cfa_fixed_ra_offset = MACHINE_RA,
		.fdes_off = gap & 15,
	};

	memset(&p, 0, offsetof(struct producer, changes));
	p.first = 0;
	p.behind = 0;
	p.capacity = 1 + capacity % MAX_FUNCTIONS;
	header.fres_off = header.fdes_off + 16 * p.capacity + (gap >> 4);
	p.fdes = sizeof(header) + header.fdes_off;
	p.fres = sizeof(header) + header.fres_off;
	p.end = p.fres;
	p.next_text = 0;
	memset(section_bytes(), 0, SECTION_MAX);
	memcpy(section_bytes(), &header, sizeof(header));
	memcpy(model.regions[REGION_OPTS].bytes, &opts, sizeof(opts));
	if (model_register(0, SECTION, SECTION_MAX,
			   model.regions[REGION_OPTS].base))
		finding("a live window is refused");
}

static void prepare(void)
{
	struct input in;
	u64 *word;

	input_memory();
	input_load(&in, (const u8 *)"", 0);
	input_opts(&in);
	model.regions[REGION_SECTION].base = SECTION;
	model.regions[REGION_STACK].base = STACK;
	for (word = (u64 *)model.regions[REGION_STACK].bytes;
	     word < (u64 *)(model.regions[REGION_STACK].bytes + STACK_MAX);
	     word++)
		*word = TEXT;
}

/* Four bytes an operation: what, and its arguments. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned int ops;

	if (size < 2)
		return 0;
	prepare();
	begin(data[0], data[1]);
	for (data += 2, size -= 2, ops = 0; size >= 4 && ops < MAX_OPS;
	     data += 4, size -= 4, ops++) {
		switch (data[0] % 8) {
		case 0: case 1:
			append(data[1], data[2]);
			break;
		case 2:
			withdraw(data[1]);
			break;
		case 3:
			for (p.rate = data[1] % 16; p.rate; p.rate--)
				do_store();
			break;
		default:
			step(data[1], data[2], data[3]);
		}
	}
	return 0;
}
