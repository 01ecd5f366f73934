// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* From the bytes of an input to memory, registers and windows. */
#include "input.h"

#define SECTION_SIZE	(SECTION_MAX + 2 * PAGE_SIZE)
#define MIDDLE		0x7f4200000000UL
#define LOW		0x10000UL
#define OPTS_BASE	0x600000000000UL

static u8 section_bytes[SECTION_SIZE], section_pages[SECTION_SIZE / PAGE_SIZE];
static u8 stack_bytes[STACK_MAX], stack_pages[STACK_MAX / PAGE_SIZE];
static u8 opts_bytes[OPTS_MAX], opts_pages[OPTS_MAX / PAGE_SIZE];
static struct shadow shadow[SECTION_SIZE];

void input_memory(void)
{
	model.regions[REGION_SECTION] = (struct region) {
		.size = sizeof(section_bytes),
		.bytes = section_bytes,
		.pages = section_pages,
	};
	model.regions[REGION_STACK] = (struct region) {
		.size = sizeof(stack_bytes),
		.bytes = stack_bytes,
		.pages = stack_pages,
	};
	model.regions[REGION_OPTS] = (struct region) {
		.base = OPTS_BASE,
		.size = sizeof(opts_bytes),
		.bytes = opts_bytes,
		.pages = opts_pages,
	};
	model.shadow = shadow;
}

static unsigned long place(unsigned int where, unsigned long size, bool stack)
{
	switch (where) {
	case PLACE_LOW:
		return LOW + stack * 0x100000UL;
	case PLACE_HIGH:
		return TASK_SIZE - size - stack * 0x100000UL;
	default:
		return MIDDLE + stack * 0x100000000UL;
	}
}

static void set_pages(struct region *region, u64 states)
{
	unsigned int i;

	for (i = 0; i < region->size >> PAGE_SHIFT; i++, states >>= 2)
		region->pages[i] = (states & 3) % 3;
}

unsigned long input_section(const struct input *in)
{
	return model.regions[REGION_SECTION].base + in->pad % PAGE_SIZE;
}

unsigned long input_length(const struct input *in)
{
	long length = (long)in->section_size + in->beyond;

	return length < 0 ? 0 : length;
}

u64 input_address(const struct input *in, u64 value)
{
	s64 off = (s32)value;

	switch (value >> 56) {
	case TAG_TEXT:
		return in->text_start + off;
	case TAG_SECOND:
		return in->second_start + off;
	case TAG_STACK:
		return model.regions[REGION_STACK].base + off;
	case TAG_SECTION:
		return input_section(in) + off;
	case TAG_END:
		return TASK_SIZE + off;
	default:
		return value;
	}
}

static void load_head(struct input *in, const u8 *data, size_t size)
{
	unsigned int i;

	memset(in, 0, sizeof(*in));
	memcpy(in, data, min(size, sizeof(*in)));
	in->text_start = input_address(in, in->text_start);
	in->second_start = input_address(in, in->second_start);
	in->ip = input_address(in, in->ip);
	in->sp = input_address(in, in->sp);
	in->fp = input_address(in, in->fp);
	for (i = 0; i < NR_RETURNS; i++)
		in->returns[i] = input_address(in, in->returns[i]);
}

static void load_stack(const struct input *in, const u8 *data, size_t size)
{
	u64 words[STACK_MAX / 8];
	unsigned int i;

	size = min(size, sizeof(words));
	memcpy(words, data, size);
	for (i = 0; i < size / 8; i++)
		words[i] = input_address(in, words[i]);
	memcpy(stack_bytes, words, size & ~7UL);
	memset(stack_bytes + (size & ~7UL), 0,
	       sizeof(stack_bytes) - (size & ~7UL));
}

/* A header of x86-64, which inputs have, is one of the machine. */
static void set_machine(u8 *header)
{
	if (get_number(header, 2) == PACKED_MAGIC &&
	    header[3] == SFRAME_ABI_AMD64_LE && !header[4]) {
		header[3] = MACHINE_ABI;
		header[4] = MACHINE_UNIT_SHIFT;
		return;
	}
	if (header[4] != SFRAME_ABI_AMD64_LE || header[6] != (u8)-8)
		return;
	header[4] = MACHINE_ABI;
	header[6] = MACHINE_RA;
}

static void load_section(struct input *in, const u8 *data, size_t size)
{
	u8 *section = section_bytes + in->pad % PAGE_SIZE;

	memset(section_bytes, 0, sizeof(section_bytes));
	memcpy(section, data, size);
	set_machine(section);
	if (in->second < SECTION_MAX)
		set_machine(section + in->second);
}

static void load_opts(const struct input *in, u32 flags, u32 format, u64 start,
		      u64 length)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts) + in->opts_size,
		.flags = flags,
		.text_start = start,
		.text_length = length,
		.format = format,
		.text_bias = in->regs[BIAS_REG],
	};

	memset(opts_bytes, 0, sizeof(opts_bytes));
	memcpy(opts_bytes, &opts, sizeof(opts));
	memset(opts_pages, PAGE_PRESENT, sizeof(opts_pages));
}

static u64 probed_word(const struct input *in, unsigned int i)
{
	unsigned int word = in->probed >> i * PROBED_BITS;

	word &= (1 << PROBED_BITS) - 1;
	return input_address(in, TAG(TAG_STACK, word * sizeof(u64)));
}

static void load_task(const struct input *in)
{
	static struct return_instance returns[NR_RETURNS];
	static struct uprobe_task utask;
	struct pt_regs *r = &shim_regs;
	unsigned int i;

	memset(r, 0, sizeof(*r));
	for (i = 0; machine_reg(r, i); i++)
		*machine_reg(r, i) = in->regs[i % 16];
	*machine_reg(r, MACHINE_SP) = in->sp;
	*machine_reg(r, MACHINE_FP) = in->fp;
	/* A call has left it there. */
	if (machine_reg(r, MACHINE_LR))
		*machine_reg(r, MACHINE_LR) = in->returns[0];
	machine_set_task(r, in->ip, in->state & STATE_KERNEL ? TASK_KERNEL :
			 in->state & STATE_VM86 ? TASK_ODD :
			 in->state & STATE_COMPAT ? TASK_COMPAT : TASK_PLAIN);
	shim_task.flags = in->state & STATE_KTHREAD ? PF_KTHREAD : 0;
	shim_function_start = in->flags & INPUT_FUNCTION_START;
	shim_trampoline = input_address(in, TRAMPOLINE);
	shim_compat = false;
	for (i = 0; i < NR_RETURNS; i++)
		returns[i] = (struct return_instance) {
			.next = i + 1 < NR_RETURNS ? &returns[i + 1] : NULL,
			.orig_ret_vaddr = in->returns[i],
			.stack = probed_word(in, i),
		};
	utask = (struct uprobe_task) {
		.return_instances = returns,
		.active_uprobe = in->flags & INPUT_XOL ? &utask : NULL,
		.xol_vaddr = in->probed & PROBED_XOL ? in->ip : 0,
		.vaddr = in->text_start,
	};
	shim_task.utask = in->flags & INPUT_UTASK ? &utask : NULL;
}

void input_load(struct input *in, const u8 *data, size_t size)
{
	struct region *regions = model.regions;
	u8 places = size ? data[0] : 0;

	model_reset();
	shim_has_mask = !(places & INPUT_NO_MASK);
	regions[REGION_SECTION].base = place(places & 3, SECTION_SIZE, false);
	regions[REGION_STACK].base = place(places >> 2 & 3, STACK_MAX, true);
	load_head(in, data, size);
	data += min(size, sizeof(*in));
	size -= min(size, sizeof(*in));
	in->section_size = min((size_t)in->section_size, size);
	in->section_size = min(in->section_size, SECTION_MAX);
	load_section(in, data, in->section_size);
	load_stack(in, data + in->section_size, size - in->section_size);
	set_pages(&regions[REGION_SECTION], 0);
	set_pages(&regions[REGION_STACK], in->stack_pages);
	load_task(in);
}

/* The format of the bytes, by their magic. */
static bool is_table(const struct input *in, unsigned long off)
{
	const u8 *section = section_bytes + in->pad % PAGE_SIZE;

	return off < SECTION_MAX && get_number(section + off, 2) == PACKED_MAGIC;
}

/* Half of them are none. */
static u32 any_format(const struct input *in)
{
	static const u32 formats[] = {
		SFRAME_FORMAT_V3, 64, SFRAME_FORMAT_PACKED, 2,
	};

	return formats[in->place >> INPUT_FORMAT_SHIFT & 3];
}

static int register_one(const struct input *in, unsigned int key, u32 flags,
			unsigned long off)
{
	unsigned long length = input_length(in);
	u64 start = key ? in->second_start : in->text_start;
	u64 size = key ? in->second_length : in->text_length;
	bool packed = is_table(in, off);
	bool no_opts = in->flags & INPUT_NO_OPTS && !flags && !packed;

	if (off > length)
		return -EINVAL;
	load_opts(in, flags, packed ? SFRAME_FORMAT_PACKED : SFRAME_FORMAT_V3,
		  start, size);
	return model_register(key, input_section(in) + off, length - off,
			      no_opts ? 0 : OPTS_BASE);
}

unsigned long input_opts(const struct input *in)
{
	u32 flags = in->signals >> 1;

	if (in->regs[2])
		return input_address(in, in->regs[2]);
	load_opts(in, flags, any_format(in), in->text_start, in->text_length);
	return in->flags & INPUT_NO_OPTS ? 0 : OPTS_BASE;
}

void input_windows(const struct input *in)
{
	if (register_one(in, 0, 0, 0))
		return;
	if (in->flags & INPUT_SECOND)
		register_one(in, 1, 0, in->second);
	if (in->flags & INPUT_SUCCESSOR)
		register_one(in, 0, SFRAME_WINDOW_REPLACE, in->second);
}

void input_events(const struct input *in)
{
	unsigned int i;

	set_pages(&model.regions[REGION_SECTION], in->section_pages);
	for (i = 0; i < MAX_EVENTS; i++)
		if (in->events[i].kind % NR_EVENT_KINDS) {
			struct event event = in->events[i];

			event.kind %= NR_EVENT_KINDS;
			event.value = input_address(in, event.value);
			model_add_event(&event);
		}
}
