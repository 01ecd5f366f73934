// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* User memory, windows, and the rules for reading them. */
#include <linux/sframe.h>

#include "model.h"
#include "user.h"
#include "no-files.h"

struct model model;

struct task_struct shim_task;
struct pt_regs shim_regs;
unsigned long shim_trampoline;
bool shim_function_start;
bool shim_compat;
bool shim_has_mask;

static struct mm_struct model_mm;

static void same(bool is_same, const char *what)
{
	if (!is_same)
		finding(what);
}

static struct region *region_of(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < NR_REGIONS; i++)
		if (addr - model.regions[i].base < model.regions[i].size)
			return &model.regions[i];
	return NULL;
}

/* Changes. */

static void store(struct region *region, const struct event *event)
{
	unsigned long size = event->size & 7 ? event->size & 7 : 8;

	if (event->where < region->size && size <= region->size - event->where)
		put_number(region->bytes + event->where, event->value, size);
}

static void set_page(struct region *region, const struct event *event)
{
	if (event->where < region->size)
		region->pages[event->where >> PAGE_SHIFT] = event->size % 3;
}

static void free_window(struct sframe_window *window)
{
	kfree(window);
}

static void free_removed(void)
{
	while (model.nr_removed)
		free_window(model.removed[--model.nr_removed]);
}

/* In the order of the registry: the successor is there before the count. */
static void take_away(unsigned int nr, struct model_window *successor)
{
	struct model_window *old = model.at[nr];

	if (!old)
		return;
	model.at[nr] = successor;
	model.registry.seq++;
	model.removed[model.nr_removed++] = old->window;
	if (!model.rcu_depth)
		free_removed();
}

static void replace(void)
{
	if (model.at[0])
		model_change_windows();
}

static void apply_event(const struct event *event)
{
	switch (event->kind) {
	case EVENT_SECTION_STORE:
		store(&model.regions[REGION_SECTION], event);
		break;
	case EVENT_STACK_STORE:
		store(&model.regions[REGION_STACK], event);
		break;
	case EVENT_SECTION_PAGE:
		set_page(&model.regions[REGION_SECTION], event);
		break;
	case EVENT_STACK_PAGE:
		set_page(&model.regions[REGION_STACK], event);
		break;
	case EVENT_REMOVE:
		take_away(event->where & 1, NULL);
		break;
	case EVENT_REPLACE:
		replace();
		break;
	}
}

/*
 * A page can disappear between two copies. No rule says how many loads a copy
 * makes.
 */
static bool is_page_event(const struct event *event)
{
	return event->kind == EVENT_SECTION_PAGE ||
	       event->kind == EVENT_STACK_PAGE;
}

static void run_due_events(void)
{
	struct event *event;

	while (model.next_event < model.nr_events) {
		event = &model.events[model.next_event];
		if (event->when > model.clock) {
			model.due = event->when;
			return;
		}
		if (is_page_event(event) && model.open)
			model.page_events |= 1u << model.next_event;
		else
			apply_event(event);
		model.next_event++;
	}
	model.due = ~0u;
}

static void run_page_events(void)
{
	unsigned int i;

	for (i = 0; i < model.nr_events; i++)
		if (model.page_events & 1u << i)
			apply_event(&model.events[i]);
	model.page_events = 0;
}

static void tick(void)
{
	if (unlikely(++model.clock >= model.due))
		run_due_events();
}

void model_add_event(const struct event *event)
{
	unsigned int i = model.nr_events++;

	for (; i && model.events[i - 1].when > event->when; i--)
		model.events[i] = model.events[i - 1];
	model.events[i] = *event;
	model.due = model.events[0].when;
}

/* Reads. */

static bool page_there(const struct region *region, unsigned long off)
{
	enum page_state state = region->pages[off >> PAGE_SHIFT];

	return state == PAGE_PRESENT ||
	       (state == PAGE_SWAPPED && !model.faults_disabled);
}

static bool byte_there(unsigned long addr)
{
	struct region *region = region_of(addr);

	return region && page_there(region, addr - region->base);
}

/* Both ends decide: a read is shorter than a page. */
static bool peek(u8 *dst, unsigned long addr, unsigned int size)
{
	struct region *region = region_of(addr);
	unsigned long off = addr - (region ? region->base : 0);

	if (!region || size > region->size - off || !page_there(region, off) ||
	    !page_there(region, off + size - 1))
		return false;
	memcpy(dst, region->bytes + off, size);
	return true;
}

/* Whose section may be read: that of the walk. */
static const struct sframe_window *window_read(void)
{
	const struct model_window *known;

	known = model.walk ? model_window_of(model.walk->window) : NULL;
	return known ? known->window : NULL;
}

static void check_section_read(unsigned long addr, unsigned int size)
{
	const struct sframe_window *window = window_read();
	unsigned long off;

	if (!window)
		finding("an address is read that is not masked");
	off = addr - window->section.start;
	if (off >= window->section.length ||
	    size > window->section.length - off)
		finding("a read outside of the section");
	if (off < sizeof(struct sframe_header))
		finding("the header is read again");
}

/* Where a packed table may be read: after its header, up to the padding. */
static void check_table_read(const struct sframe_window *window,
			     unsigned long addr, unsigned int size)
{
	const struct ref_window *ref = &model_window_of(window)->ref;
	unsigned long off = addr - ref->addr;

	if (off < 32 || off + size > ref->fres_end + 8)
		finding("a read outside of the table");
}

static void next_read(struct step *step)
{
	if (step->nr_reads == 2)
		finding("a third section is read");
	if (!++model.nr_reads) {
		/* What is left of four billion reads ago looks like new. */
		memset(model.shadow, 0, model.regions[REGION_SECTION].size *
		       sizeof(*model.shadow));
		model.nr_reads = 1;
	}
	step->reads[step->nr_reads++] = model.nr_reads;
}

/* Each byte of a section once a step. */
static void note_section(unsigned long addr, const u8 *bytes,
			 unsigned int size, bool fault)
{
	struct region *region = &model.regions[REGION_SECTION];
	unsigned long off = addr - region->base;
	unsigned int i, nr = model.step->nr_reads - 1;
	struct shadow *shadow;

	for (i = 0; i < size && off + i < region->size; i++) {
		shadow = &model.shadow[off + i];
		if (shadow->read[nr] == model.nr_reads)
			finding("a byte of the section is read twice");
		shadow->read[nr] = model.nr_reads;
		shadow->value[nr] = bytes[i];
		shadow->fault[nr] = fault && !byte_there(addr + i);
	}
	model.step->bytes++;
}

static void note_load(unsigned long addr, const u8 *bytes, unsigned int size,
		      bool fault)
{
	struct load *load = &model.loads[model.nr_loads];

	if (model.nr_loads == MAX_LOADS)
		finding("reads without end");
	model.nr_loads++;
	load->addr = addr;
	load->size = size;
	load->fault = fault;
	load->seq = model.registry.seq;
	load->value = 0;
	memcpy(&load->value, bytes, size);
}

/*
 * The most reads without a look at the clock; each row is two. When the budget
 * ends, which is seen first, a second window is read for as long again.
 */
#define MAX_UNSEEN	(4 * SFRAME_INTERVAL + 40)

static void note_fault(unsigned long addr, unsigned int size)
{
	model.fault_addr = addr;
	model.fault_size = size;
}

static int read_memory(void *dst, unsigned long addr, unsigned int size)
{
	bool there;

	tick();
	memset(dst, 0, size);
	there = peek(dst, addr, size);
	note_load(addr, dst, size, !there);
	if (there)
		return 0;
	note_fault(addr, size);
	return -EFAULT;
}

static int read_section(void *dst, unsigned long addr, unsigned int size)
{
	const struct region *section = &model.regions[REGION_SECTION];
	bool there;

	tick();
	if (!window_read() || !model.step || model.step->several)
		finding("an address is read that is not masked");
	if (!model.step->nr_reads)
		next_read(model.step);
	check_section_read(addr, size);
	memset(dst, 0, size);
	/* A section that goes on elsewhere has nothing there. */
	there = addr - section->base < section->size && peek(dst, addr, size);
	note_section(addr, dst, size, !there);
	if (there)
		return 0;
	note_fault(addr, size);
	return -EFAULT;
}

/* Noted as a read of the stack is: a packed table is read in one order. */
static int read_table(const struct sframe_window *window, void *dst,
		      unsigned long addr, unsigned int size)
{
	if (!model.step)
		finding("a packed table is read by a registration");
	if (!model.step->nr_reads)
		next_read(model.step);
	check_table_read(window, addr, size);
	model.step->table = true;
	model.step->bytes++;
	return read_memory(dst, addr, size);
}

bool shim_access_ok(unsigned long addr, unsigned long size, bool small)
{
	if (small)
		return addr <= TASK_SIZE;
	return addr + size >= addr && addr + size <= TASK_SIZE;
}

bool shim_access_begin(unsigned long addr, unsigned long size)
{
	if (model.open)
		finding("user access is opened twice");
	tick();
	run_page_events();
	if (model.step) {
		if (!model.faults_disabled || !model.rcu_depth)
			finding("a step may sleep");
		model.step->sections++;
	}
	if (!shim_access_ok(addr, size, false)) {
		note_load(addr, (const u8 *)"", 0, true);
		return false;
	}
	model.open = true;
	return true;
}

void shim_access_end(void)
{
	if (!model.open)
		finding("user access is closed twice");
	model.open = false;
	model.read_barrier = false;
}

static unsigned long masked(unsigned long addr)
{
	model.masked = addr;
	model.has_masked = true;
	return addr;
}

unsigned long shim_mask(unsigned long addr)
{
	return masked(min(addr, TASK_SIZE_MAX));
}

unsigned long shim_mask_table(unsigned long addr)
{
	model.masked_table = min(addr, TASK_SIZE_MAX);
	model.has_masked_table = true;
	return model.masked_table;
}

/* Of an address, or of an index of the kernel's own. */
unsigned long shim_index_nospec(unsigned long index, unsigned long size)
{
	index = index < size ? index : 0;
	return size == TASK_SIZE_MAX ? masked(index) : index;
}

static void must_be_closed(const char *what)
{
	if (model.open)
		finding(what);
}

/* One mask is for all of a block. The longest one has so many bytes. */
#define PACKED_BLOCK	(1 + 255 + 2 * 256 + 7)

int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size)
{
	bool masked = model.has_masked && addr == model.masked;
	const struct sframe_window *window = masked ? NULL : window_read();
	bool packed = window && window->format == SFRAME_FORMAT_PACKED;
	bool table = model.has_masked_table &&
		     addr - model.masked_table < (packed ? PACKED_BLOCK : 1);

	if (shim_has_mask && !masked && !table)
		finding("an address is read that is not masked");
	if (!model.open)
		finding("user memory is read without being opened");
	if (!model.faults_disabled)
		finding("an access section may sleep");
	model.has_masked = false;
	model.has_masked_table = packed && table;
	if (!masked && ++model.unseen > MAX_UNSEEN && model.step &&
	    model.step->before.sframe.deadline)
		finding("the clock is not looked at");
	if (packed)
		return read_table(window, dst, addr, size);
	return masked ? read_memory(dst, addr, size) :
			read_section(dst, addr, size);
}

static int get_one(void *dst, unsigned long addr, unsigned int size)
{
	must_be_closed("get_user() while user access is open");
	run_page_events();
	return read_memory(dst, addr, size);
}

int shim_get_user(void *dst, unsigned long addr, unsigned int size)
{
	shim_might_fault();
	return get_one(dst, addr, size);
}

int shim_get_user_unchecked(void *dst, unsigned long addr, unsigned int size)
{
	if (addr > TASK_SIZE)
		finding("__get_user() of an address that was not checked");
	return get_one(dst, addr, size);
}

void shim_might_fault(void)
{
	must_be_closed("might_fault() while user access is open");
	if (model.faults_disabled)
		finding("might_fault() with faults disabled");
	if (model.rcu_depth)
		finding("a read may sleep under RCU");
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	unsigned long addr = (unsigned long)src, done, part;

	shim_might_fault();
	if (!shim_access_begin(addr, size))
		return size;
	for (done = 0; done < size; done += part) {
		part = min(size - done, 8UL);
		if (read_memory((u8 *)dst + done, addr + done, part))
			break;
	}
	shim_access_end();
	memset((u8 *)dst + done, 0, size - done);
	return size - done;
}

static bool fault_in(unsigned long addr)
{
	struct region *region = region_of(addr);
	u8 *page;

	if (!region)
		return false;
	page = &region->pages[(addr - region->base) >> PAGE_SHIFT];
	if (*page == PAGE_SWAPPED)
		*page = PAGE_PRESENT;
	return *page == PAGE_PRESENT;
}

size_t fault_in_readable(const char *src, size_t size)
{
	unsigned long addr = (unsigned long)src, end = addr + size, at;
	bool there = shim_access_ok(addr, size, false);

	shim_might_fault();
	tick();
	run_page_events();
	for (at = addr; there && at < end; at = (at | (PAGE_SIZE - 1)) + 1)
		there = fault_in(at);
	note_load(addr, (const u8 *)"", 0, !there);
	return there ? 0 : size;
}

static int check_zeroed_user(unsigned long addr, size_t size)
{
	u8 rest[PAGE_SIZE];
	size_t i;

	if (copy_from_user(rest, (const void *)addr, size))
		return -EFAULT;
	for (i = 0; i < size; i++)
		if (rest[i])
			return -E2BIG;
	return 0;
}

int copy_struct_from_user(void *dst, size_t ksize, const void *src,
			  size_t usize)
{
	size_t size = min(ksize, usize);
	int ret;

	if (usize > ksize) {
		ret = check_zeroed_user((unsigned long)src + ksize,
					usize - ksize);
		if (ret)
			return ret;
	}
	memset(dst, 0, ksize);
	return copy_from_user(dst, src, size) ? -EFAULT : 0;
}

/* PR_SFRAME_QUERY is not what is tested here. */
int copy_struct_to_user(void *dst, size_t usize, const void *src, size_t ksize,
			bool *ignored)
{
	return -EFAULT;
}

/* Order, RCU, references. */

void shim_rmb(void)
{
	model.read_barrier = true;
	/* In the step of a section: is its window the same? Code is read later. */
	if (model.step && !model.open)
		model.step->seq_behind[model.step->nr_reads == 2] =
			model.registry.seq;
}

int shim_rcu_lock(void)
{
	return ++model.rcu_depth;
}

void shim_rcu_unlock(int *unused)
{
	if (!--model.rcu_depth)
		free_removed();
}

int shim_pagefault_lock(void)
{
	return ++model.faults_disabled;
}

void shim_pagefault_unlock(int *unused)
{
	model.faults_disabled--;
}

int shim_preempt_lock(void)
{
	return ++model.preempt_disabled;
}

void shim_preempt_unlock(int *unused)
{
	model.preempt_disabled--;
}

u64 local_clock(void)
{
	must_be_closed("the clock is called while user access is open");
	tick();
	model.unseen = 0;
	if (model.step) {
		model.step->looks++;
		/* Otherwise the clock goes on after it has stood still. */
		if (!model.clock_of->stopped &&
		    (s64)(model.clock - model.clock_of->deadline) > 0)
			model.step->late = true;
	}
	return model.clock;
}

u64 sframe_walk_limit(void)
{
	return model.limit;
}

/* The registry. */

/* The window at @ip, or the gap there. */
static struct sframe_range lookup(unsigned long ip)
{
	struct sframe_range range = { .last = ULONG_MAX };
	const struct sframe_window *window;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		window = model.at[i] ? model.at[i]->window : NULL;
		if (!window)
			continue;
		if (ip >= window->text_start && ip < window->text_end)
			return (struct sframe_range) {
				.window = model.at[i]->window,
				.first = window->text_start,
				.last = window->text_end - 1,
			};
		if (ip < window->text_start)
			range.last = min(range.last, window->text_start - 1);
		else
			range.first = max(range.first, window->text_end);
	}
	return range;
}

struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip)
{
	struct find *find = &model.finds[model.nr_finds];

	must_be_closed("a window is looked up while user access is open");
	if (!model.rcu_depth)
		finding("windows are looked up outside of RCU");
	if (model.nr_finds == MAX_FINDS)
		finding("lookups without end");
	model.nr_finds++;
	find->ip = ip;
	find->range = lookup(ip);
	find->seq = model.registry.seq;
	/* A lookup after an access section is for the second window. */
	if (model.step && model.step->sections) {
		if (!model.read_barrier)
			finding("no barrier behind what was read");
		while (model.step->nr_reads < 2)
			next_read(model.step);
	}
	/* As if it happened while the tree was walked. */
	tick();
	return find->range;
}

bool __sframe_mm_has_windows(struct mm_struct *mm)
{
	return model.nr_windows;
}

struct sframe_window *sframe_window_alloc(const struct sframe_window *draft)
{
	struct sframe_window *window;

	if (model.nr_windows == MAX_WINDOWS || model.no_memory)
		return NULL;
	window = calloc(1, sizeof(*window));
	memcpy(window, draft, sizeof(*draft));
	return window;
}

void sframe_window_free(struct sframe_window *window)
{
	unsigned int i;

	for (i = 0; i < model.nr_windows; i++)
		if (window == model.windows[i].window)
			finding("a window is freed that was published");
	free_window(window);
}

static bool overlaps(const struct sframe_window *window,
		     const struct model_window *other)
{
	return other && window->text_start < other->window->text_end &&
	       other->window->text_start < window->text_end;
}

/* A replacement stays aside until its event. */
static int publish_successor(struct model_window *window)
{
	const struct model_window *old = model.at[0];

	if (!old || window->window->text_start > old->window->text_start ||
	    window->window->text_end < old->window->text_end)
		return -EINVAL;
	model.successor = window;
	return 0;
}

static int publish(struct sframe_window *window, bool successor)
{
	struct model_window *mine = &model.windows[model.nr_windows];
	int ret = 0;

	if (window->key > 1)
		finding("an unknown window is registered");
	mine->window = window;
	if (overlaps(window, model.at[!window->key]))
		return -EEXIST;
	if (successor)
		ret = publish_successor(mine);
	else
		model.at[window->key] = mine;
	if (!ret)
		model.nr_windows++;
	return ret;
}

int sframe_register(struct sframe_window *window, bool successor)
{
	model.refusal = publish(window, successor);
	return model.refusal;
}

int sframe_unregister(unsigned long key)
{
	return -ENOENT;
}

int sframe_window_limit(void)
{
	return MAX_WINDOWS;
}

static void compare_sections(const struct sframe_section *section,
			     const struct ref_window *ref)
{
	same(section->start == ref->addr && section->length == ref->length,
	     "another section was registered");
	same(section->fdes == ref->addr + ref->fdes &&
	     section->num_fdes == ref->num_fdes,
	     "another index was registered");
	same(section->fres == ref->addr + ref->fres &&
	     section->fres_end == ref->addr + ref->fres_end,
	     "other rows were registered");
	same(section->bias == ref->bias, "another bias was registered");
}

static void compare_tables(const struct sframe_window *window,
			   const struct ref_window *ref)
{
	const struct sframe_packed *packed = &window->packed;

	same(window->section.start == ref->addr &&
	     window->section.length == ref->length &&
	     window->section.bias == ref->bias,
	     "another table was registered");
	same(packed->rules == ref->addr + 32 &&
	     packed->index == ref->addr + ref->fdes &&
	     packed->nr_rules == (ref->fdes - 32) / 16,
	     "other rules were registered");
	same(packed->blocks == ref->addr + ref->fres &&
	     packed->blocks_len == ref->fres_end - ref->fres,
	     "other blocks were registered");
	same(packed->text_start == ref->first &&
	     packed->text_length == ref->code &&
	     packed->repeat == ref->repeat, "other code was registered");
}

static void compare_windows(const struct sframe_window *window,
			    const struct ref_window *ref)
{
	same(window->text_start == ref->text_start &&
	     window->text_end == ref->text_end,
	     "another text range was registered");
	same(window->format == ref->format, "another format was registered");
	if (ref->format == SFRAME_FORMAT_PACKED)
		compare_tables(window, ref);
	else
		compare_sections(&window->section, ref);
}

int model_register(unsigned long key, unsigned long addr, unsigned long len,
		   unsigned long opts)
{
	struct model_window *mine = &model.windows[model.nr_windows];
	struct ref_window ref;
	int ret, want;

	model_start(false);
	model.refusal = 0;
	ret = sframe_prctl_register(key, addr, len, opts);
	want = ref_register(&ref, addr, len, opts);
	/* The model's registry is also asked. */
	if (!want)
		want = model.refusal;
	same(ret == want, "a registration is decided otherwise");
	same(model_all_taken(), "a registration reads what it does not need");
	model_end();
	if (ret)
		return ret;
	compare_windows(mine->window, &ref);
	mine->ref = ref;
	return 0;
}

/* What was noted. */

/* The parts may be of any size but have to be these bytes, in order. */
int model_take_loads(unsigned long addr, unsigned int size, void *dst)
{
	const struct load *load;
	unsigned int done = 0;

	while (done < size) {
		if (model.next_load == model.nr_loads)
			finding("a word that is needed was not read");
		load = &model.loads[model.next_load++];
		if (load->addr != addr + done || load->size > size - done)
			finding("a word is read that no rule names");
		if (load->fault)
			return -EFAULT;
		memcpy((u8 *)dst + done, &load->value, load->size);
		done += load->size;
	}
	return 0;
}

int model_take_fault_in(void)
{
	const struct load *load = &model.loads[model.next_load];

	if (model.next_load == model.nr_loads || load->size)
		finding("a page is not brought in");
	model.next_load++;
	return load->fault ? -EFAULT : 0;
}

const struct find *model_take_find(unsigned long ip)
{
	const struct find *find = &model.finds[model.next_find];

	if (model.next_find == model.nr_finds)
		finding("a window was not looked up");
	if (find->ip != ip)
		finding("a window is looked up at another address");
	model.next_find++;
	return find;
}

bool model_all_taken(void)
{
	return model.next_load == model.nr_loads &&
	       model.next_find == model.nr_finds;
}

const struct model_window *model_window_of(const struct sframe_window *window)
{
	unsigned int i;

	for (i = 0; window && i < model.nr_windows; i++)
		if (model.windows[i].window == window)
			return &model.windows[i];
	return NULL;
}

int model_section_byte(const struct ref_window *ref, unsigned long off,
		       u32 read, u8 *value)
{
	struct region *region = &model.regions[REGION_SECTION];
	unsigned long addr = ref->addr + off;
	struct shadow *shadow;
	unsigned int i;

	if (addr - region->base >= region->size)
		return -EFAULT;
	shadow = &model.shadow[addr - region->base];
	i = shadow->read[1] == read;
	if (shadow->read[i] != read) {
		model.missing = true;
		return -EFAULT;
	}
	*value = shadow->value[i];
	return shadow->fault[i] ? -EFAULT : 0;
}

static struct ref_rule plain_rule(const struct unwind_user_rule *rule)
{
	struct ref_rule plain = {
		.base = REF_OTHER,
		.load = rule->from & UNWIND_USER_DEREF,
		.off = rule->off,
	};

	switch (rule->from & ~UNWIND_USER_DEREF) {
	case UNWIND_USER_FROM_NONE:
		return (struct ref_rule) { .base = REF_NONE };
	case UNWIND_USER_FROM_CFA:
		plain.base = REF_CFA;
		break;
	case UNWIND_USER_FROM_SP:
		plain.base = REF_SP;
		break;
	case UNWIND_USER_FROM_FP:
		plain.base = REF_FP;
		break;
	case UNWIND_USER_FROM_LR:
		same(MACHINE_LR != ~0u, "a rule that the machine does not have");
		plain.base = REF_LR;
		break;
	case UNWIND_USER_FROM_REG:
		plain.reg = rule->regnum;
		break;
	default:
		finding("a rule that there is not");
	}
	return plain;
}

static struct ref_frame kernel_frame(const struct unwind_user_frame *frame)
{
	struct ref_frame plain = {
		.outermost = frame->kind == UNWIND_USER_FRAME_OUTERMOST,
		.signal = frame->kind == UNWIND_USER_FRAME_SIGNAL,
	};

	if (plain.outermost || plain.signal)
		return plain;
	same(frame->sp_off == -MACHINE_SAVED && !frame->ra_copied,
	     "a frame that no row means");
	plain.flex = frame->kind == UNWIND_USER_FRAME_RULES;
	same(plain.flex || frame->kind == UNWIND_USER_FRAME_PLAIN,
	     "a kind of frame that no row means");
	plain.cfa = plain_rule(&frame->cfa);
	plain.ra = plain_rule(&frame->ra);
	plain.fp = plain_rule(&frame->fp);
	plain.addend = frame->cfa_addend;
	plain.exact = frame->exact;
	plain.third = frame->third;
	return plain;
}

#ifdef MACHINE_CALL_TARGET

/* The suites are for instructions; here PUSH %rbp is known, and NOP. */
int unwind_user_code_pushes(const u8 *code, unsigned int length)
{
	int pushed = 0;

	while (length--) {
		if (*code == 0x55 && !pushed)
			pushed = 8;
		else if (*code != 0x90)
			return -1;
		code++;
	}
	return pushed;
}

#endif

/* Steps. */

/* What is not of a position, or has been compared in another way. */
static bool same_state(const struct unwind_user_state *a,
		       const struct unwind_user_state *b)
{
	struct unwind_user_state other = *b;

	other.fault = a->fault;
	other.fault_size = a->fault_size;
	other.current_type = a->current_type;
	other.sframe.budget = a->sframe.budget;
	other.sframe.slack = a->sframe.slack;
	other.sframe.deadline = a->sframe.deadline;
	other.sframe.stopped = a->sframe.stopped;
	other.sframe.frame = a->sframe.frame;
	return !memcmp(&other, a, sizeof(other));
}

/* UNWIND_USER_PROBE_READS */
#define PROBE_READS	16

/* Did it look at the list of return probes? */
static bool has_undone_probe(const struct step *step)
{
	return step->before.ri && !step->ret && !step->after.done &&
	       step->after.signals == step->before.signals;
}

/*
 * A packed table is paid for after the clock has been looked at: three reads, and
 * one for each eight bytes of a block after the first.
 */
static int most_of_block(void)
{
	unsigned int i;

	for (i = 0; i < model.nr_windows; i++)
		if (model.windows[i].ref.format == SFRAME_FORMAT_PACKED)
			return 255 / 8;
	return 0;
}

/* Each read is paid for; a row, which is two, once. */
static void compare_budget(const struct step *step)
{
	const struct sframe_walk *before = &step->before.sframe;
	const struct sframe_walk *after = &step->after.sframe;
	long spent = (long)before->budget + before->slack -
		     ((long)after->budget + after->slack);
	enum sframe_reason reason = step->ret == -EINVAL ? step->after.reason : 0;

	/* That of a frame pointer is no step through a window. */
	if (step->ret == -ENOENT) {
		/* A window may go while it is read. */
		same(!spent || step->nr_reads,
		     "a step by frame pointer is paid for");
		same(!before->deadline || after->stopped,
		     "the time of a step by frame pointer counts");
		return;
	}
	if (step->ret == -EFAULT) {
		same(!spent, "a step that is to be repeated is paid for");
		return;
	}
	if (!step->sections)
		return;
	same(!after->stopped, "the time of a step does not count");
	same(spent >= SFRAME_STACK_READS + (step->table ? 3 : 0) +
	     (has_undone_probe(step) ? PROBE_READS : 0), "a step costs nothing");
	same(step->bytes <= 2 * spent + 22, "more is read than is paid for");
	same(spent <= step->bytes + (step->before.ri ? 40 : 24) +
		      step->nr_reads * most_of_block(),
	     "more is paid for than is read");
	/* Code is read at the end of a step. */
	same(after->slack >= -3 - most_of_block() || step->before.ri,
	     "a step is not paid for at its beginning");
	if (reason == SFRAME_REASON_BUDGET)
		same(after->budget < 0, "the budget ends before its end");
	if (reason == SFRAME_REASON_DEADLINE)
		same(step->late, "the deadline is before its time");
	/* A second window may be read up to the next look at the clock. */
	if (reason == SFRAME_REASON_BUDGET ||
	    reason == SFRAME_REASON_DEADLINE || step->nr_reads == 2)
		return;
	same(after->budget >= 0 || after->budget == before->budget,
	     "the budget does not end");
	same(!step->late, "the deadline is passed");
}

static void compare_refusal(const struct step *step)
{
	struct unwind_user_state same_but = step->before;

	same_but.sframe = step->after.sframe;
	same_but.reason = step->after.reason;
	same(same_state(&same_but, &step->after),
	     "a failed step changes the state");
	if (step->ret != -EFAULT)
		return;
	/* Nothing is tried there without a mask. */
	if (step->after.fault >= TASK_SIZE && !shim_has_mask)
		return;
	same(step->after.fault == model.fault_addr &&
	     step->after.fault_size == model.fault_size, "another fault");
}

static bool out_of_time(const struct step *step)
{
	return step->ret == -EINVAL &&
	       (step->after.reason == SFRAME_REASON_BUDGET ||
		step->after.reason == SFRAME_REASON_DEADLINE);
}

/* What must hold whatever the reference says. */
static void compare_order(const struct step *step)
{
	const struct unwind_user_state *before = &step->before;
	const struct unwind_user_state *after = &step->after;

	if (step->ret || after->done)
		return;
	same(after->signals <= 8, "too many signal frames");
	same(after->switches <= 8, "too many stacks");
	same(after->sp > before->sp ||
	     (after->sp == before->sp && before->topmost) ||
	     after->signals == before->signals + 1 ||
	     after->switches == before->switches + 1, "the stack goes down");
}

/*
 * One for each window, or for rules that are known. Each look leaves it, also
 * that which finds the budget at its end and does not ask the clock.
 */
static void compare_access(const struct step *step)
{
	unsigned int most = max(step->nr_reads, 1u) + step->looks + model.texts;

	/* A step that waits for a page gets back what it has spent. */
	if (step->after.sframe.budget < 0 || step->ret == -EFAULT)
		most += step->nr_reads;
	/* A walk without a deadline asks no clock. */
	same(step->sections <= most || !step->before.sframe.deadline,
	     "too many access sections");
}

/* The rules that were found, not only what they lead to in this stack. */
static void compare_frame(const struct step *step)
{
	struct ref_frame frame = kernel_frame(&step->after.sframe.frame);

	same(ref_same_frame(&frame, &step->frame), "another frame");
}

static void compare_steps(struct step *step)
{
	struct unwind_user_state want = step->before;

	compare_budget(step);
	compare_order(step);
	if (step->ret)
		compare_refusal(step);
	if (out_of_time(step)) {
		step->reason = step->after.reason;
		return;
	}
	/* The notes of this step; those before it are not yet taken. */
	model.next_load = step->first_load;
	model.next_find = step->first_find;
	model.texts = 0;
	same(ref_step(&want, step) == step->ret, "a step is decided otherwise");
	same(same_state(&want, &step->after), "another caller");
	same(model_all_taken(), "a step reads what it does not need");
	if (!step->ret && step->nr_reads)
		compare_frame(step);
	compare_access(step);
}

/* What is noted from here on is of one step, or of some at once. */
static struct step *begin_step(const struct unwind_user_state *state)
{
	struct step *step = &model.steps[model.nr_steps];

	if (model.nr_steps++ == MAX_STEPS)
		finding("steps without end");
	memset(step, 0, sizeof(*step));
	step->before = *state;
	model.clock_of = &state->sframe;
	step->seq = model.registry.seq;
	step->first_load = model.nr_loads;
	step->first_find = model.nr_finds;
	model.step = step;
	return step;
}

static void end_step(struct step *step, const struct unwind_user_state *state)
{
	model.step = NULL;
	model.walk = NULL;
	if (model.open)
		finding("user access is left open");
	step->after = *state;
	step->behind_load = model.nr_loads;
	step->behind_find = model.nr_finds;
}

int model_step(struct unwind_user_state *state,
	       int (*real)(struct unwind_user_state *state))
{
	unsigned int next_load = model.next_load, next_find = model.next_find;
	struct step *step = begin_step(state);

	model.walk = &state->sframe;
	step->ret = real(state);
	end_step(step, state);
	compare_steps(step);
	model.next_load = next_load;
	model.next_find = next_find;
	return step->ret;
}

/*
 * Entry, block, rule and two words of each frame; what the last one has read that
 * was not made, or those that were undone, is paid for, too.
 */
static void compare_packed(const struct step *step, long spent,
			   unsigned int max)
{
	unsigned int loads = step->behind_load - step->first_load;

	same(spent >= 5 * (long)step->made, "steps are not paid for");
	/* A step that fails is paid for, and each word of a block after its first. */
	same(!step->sections ||
	     spent <= 5 * ((long)step->made + 1) + (long)loads,
	     "more is paid for than is read");
	same(!step->may_go_on || step->ret == min(max, SFRAME_STEPS) ||
	     step->after.sframe.slack < 5, "steps end without need");
	same(!step->table || !step->after.sframe.stopped,
	     "the time of steps does not count");
	same(loads <= 2 * spent + 42, "more is read than is paid for");
	same(step->ret || step->seq_behind[0] != step->seq || loads <= 41,
	     "steps are read and not made");
}

/* Several steps are for frames of calls. */
static void find_kind(struct unwind_user_state *state, struct step *step,
		      unsigned int max)
{
	const struct model_window *window;

	if (!max || state->exact_ip || state->ri)
		return;
	ref_find_range(state, step);
	window = model_window_of(state->sframe.window);
	step->packed = window && window->ref.format == SFRAME_FORMAT_PACKED;
	step->by_fp = !window;
}

/* Words of each frame, and none when the time is over. */
static void compare_several(struct step *step, unsigned int max)
{
	const struct sframe_walk *before = &step->before.sframe;
	const struct sframe_walk *after = &step->after.sframe;
	long spent = (long)before->budget + before->slack -
		     ((long)after->budget + after->slack);
	bool ends = after->budget < 0 || step->late;
	struct unwind_user_state want = step->before;
	bool run;

	model.next_find = step->first_find;
	find_kind(&want, step, max);
	run = step->packed || step->by_fp;
	ends &= step->packed && after->budget != before->budget;
	model.next_load = step->first_load;
	ref_steps(&want, step);
	same(same_state(&want, &step->after), "another caller");
	same(model_all_taken(), "a step reads what it does not need");
	same(step->ret == step->nr_ips, "another number of steps");
	same(step->sections == (run && !ends), "steps are tried, or are not");
	same(!ends || (!step->ret && !after->slack),
	     "the deadline or the budget is passed");
	if (step->packed) {
		compare_packed(step, spent, max);
		return;
	}
	same(step->behind_load - step->first_load <= 2 * step->nr_ips + 2,
	     "more is read than is needed");
	same(!spent, "other steps are paid for");
	same(!run || !before->deadline || after->stopped,
	     "the time of steps by frame pointer counts");
}

unsigned int __real_sframe_steps(struct unwind_user_state *state,
				 unsigned long *ips, unsigned int max);
unsigned int __wrap_sframe_steps(struct unwind_user_state *state,
				 unsigned long *ips, unsigned int max)
{
	unsigned int next_load = model.next_load, next_find = model.next_find, i;
	struct step *step = begin_step(state);

	if (!model.preempt_disabled)
		finding("steps may go on on another CPU");
	step->several = true;
	model.walk = &state->sframe;
	step->ret = __real_sframe_steps(state, ips, max);
	end_step(step, state);
	same(step->ret <= min(max, SFRAME_STEPS),
	     "more steps than there is space for");
	compare_several(step, max);
	for (i = 0; i < step->ret; i++)
		same(ips[i] == model.ips[step->first_ip + i],
		     "another address");
	model.next_load = next_load;
	model.next_find = next_find;
	return step->ret;
}

int __real_sframe_step(struct unwind_user_state *state);
int __wrap_sframe_step(struct unwind_user_state *state)
{
	if (!model.preempt_disabled)
		finding("a step may go on on another CPU");
	return model_step(state, __real_sframe_step);
}

/* A run. */

static void free_windows(void)
{
	free_removed();
	if (model.at[0])
		free_window(model.at[0]->window);
	if (model.at[1])
		free_window(model.at[1]->window);
	if (model.successor)
		free_window(model.successor->window);
}

void model_reset(void)
{
	free_windows();
	model_mm.sframe = &model.registry;
	shim_task.mm = &model_mm;
	shim_has_mask = true;
	model.nr_windows = 0;
	model.at[0] = NULL;
	model.at[1] = NULL;
	model.successor = NULL;
	model.registry.seq = 0;
	memset(&model.registry.counters, 0, sizeof(model.registry.counters));
	model.limit = 1;
	model.nr_events = 0;
	model.next_event = 0;
	model.due = ~0u;
	model.page_events = 0;
	model.no_memory = false;
}

void model_change_windows(void)
{
	struct model_window *successor = model.successor;

	model.successor = NULL;
	take_away(0, successor);
}

void model_start(bool in_sample)
{
	model.faults_disabled = in_sample;
	model.preempt_disabled = in_sample;
	model.clock = 0;
	model.nr_loads = 0;
	model.next_load = 0;
	model.nr_finds = 0;
	model.next_find = 0;
	model.nr_steps = 0;
	model.next_step = 0;
	model.nr_ips = 0;
	model.rcu_depth = 0;
	model.unseen = 0;
	model.step = NULL;
	model.open = false;
}

void model_end(void)
{
	same(!model.open, "user access is left open");
	same(!model.rcu_depth, "RCU is left locked");
	same(model.preempt_disabled < 2, "preemption is left disabled");
	same(model.faults_disabled < 2, "page faults are left disabled");
}
