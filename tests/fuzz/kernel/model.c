// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* User memory, windows, and the rules for reading them. */
#include <linux/sframe.h>

#include "model.h"

struct model model;

struct task_struct shim_task;
struct pt_regs shim_regs;
unsigned long shim_trampoline;
bool shim_function_start;
bool shim_compat;

static struct mm_struct model_mm;

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
		memcpy(region->bytes + event->where, &event->value, size);
}

static void set_page(struct region *region, const struct event *event)
{
	if (event->where < region->size)
		region->pages[event->where >> PAGE_SHIFT] = event->size % 3;
}

void sframe_window_put(struct sframe_window *window)
{
	if (window->refs.refs <= 0)
		finding("a reference is put that nobody has");
	window->refs.refs--;
}

/* In the order of the registry: the successor is there before the count. */
static void take_away(unsigned int nr, struct model_window *successor)
{
	struct model_window *old = model.at[nr];

	if (!old)
		return;
	model.at[nr] = successor;
	model.registry.seq++;
	sframe_window_put(&old->window);
}

static void replace(void)
{
	struct model_window *successor = model.successor;

	if (!model.at[0])
		return;
	model.successor = NULL;
	take_away(0, successor);
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

/* A page goes between two copies: which loads make up one is nobody's rule. */
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
	if (unlikely(model.at_access))
		model.at_access();
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

static void may_sleep_here(void)
{
	if (!model.faults_disabled && model.rcu_depth)
		finding("a read may sleep under RCU");
}

static void check_live_read(const struct ref_window *ref, unsigned long off,
			    unsigned int size)
{
	if (!model.counted) {
		if (off != offsetof(struct sframe_header, num_fdes) ||
		    size != sizeof(u32))
			finding("a live section is read before its count");
		model.counted = true;
		return;
	}
	if (model.rmbs == model.rmbs_before)
		finding("entries are read without a barrier behind the count");
}

static void check_section_read(unsigned long addr, unsigned int size)
{
	const struct model_window *window = model.reading;
	const struct ref_window *ref = &window->ref;
	unsigned long off = addr - ref->addr;

	if (off >= ref->length || size > ref->length - off)
		finding("a read outside of the section");
	if (window->window.refs.refs <= 0 && !model.rcu_depth)
		finding("a window is used without RCU or reference");
	if (ref->live)
		check_live_read(ref, off, size);
	else if (off < sizeof(struct sframe_header))
		finding("the header is read again");
}

/* Each byte of a section once a step. */
static void note_section(unsigned long addr, const u8 *bytes,
			 unsigned int size, bool fault)
{
	struct region *region = &model.regions[REGION_SECTION];
	unsigned long off = addr - region->base;
	struct shadow *shadow;
	unsigned int i;

	for (i = 0; i < size && off + i < region->size; i++) {
		shadow = &model.shadow[off + i];
		if (shadow->step == model.step)
			finding("a byte of the section is read twice");
		shadow->step = model.step;
		shadow->value = bytes[i];
		shadow->fault = fault && !byte_there(addr + i);
	}
	model.section_bytes += size;
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
	load->value = 0;
	memcpy(&load->value, bytes, size);
}

static int read_memory(void *dst, unsigned long addr, unsigned int size)
{
	const struct region *section = &model.regions[REGION_SECTION];
	bool there;

	tick();
	may_sleep_here();
	if (model.reading)
		check_section_read(addr, size);
	memset(dst, 0, size);
	/* A section that goes on elsewhere has nothing there. */
	there = (!model.reading || addr - section->base < section->size) &&
		peek(dst, addr, size);
	if (model.reading)
		note_section(addr, dst, size, !there);
	else
		note_load(addr, dst, size, !there);
	return there ? 0 : -EFAULT;
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
	if (!shim_access_ok(addr, size, false)) {
		if (!model.reading)
			note_load(addr, (const u8 *)"", 0, true);
		return false;
	}
	model.open = true;
	model.open_addr = addr;
	model.open_size = size;
	return true;
}

void shim_access_end(void)
{
	if (!model.open)
		finding("user access is closed twice");
	model.open = false;
}

int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size)
{
	unsigned long off = addr - model.open_addr;

	if (!model.open)
		finding("user memory is read without being opened");
	if (off >= model.open_size || size > model.open_size - off)
		finding("user memory is read outside of what was opened");
	return read_memory(dst, addr, size);
}

static int get_one(void *dst, unsigned long addr, unsigned int size)
{
	if (model.open)
		finding("get_user() while user access is open");
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
	if (model.faults_disabled)
		finding("might_fault() with faults disabled");
	may_sleep_here();
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
	model.rmbs++;
}

int shim_rcu_lock(void)
{
	return ++model.rcu_depth;
}

void shim_rcu_unlock(int *unused)
{
	model.rcu_depth--;
}

bool refcount_inc_not_zero(refcount_t *refs)
{
	if (!model.rcu_depth)
		finding("a window is pinned outside of RCU");
	if (!refs->refs)
		return false;
	refs->refs++;
	return true;
}

/* The registry. */

static struct model_window *lookup(unsigned long ip)
{
	struct model_window *window;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		window = model.at[i];
		if (window && ip >= window->window.text_start &&
		    ip < window->window.text_end)
			return window;
	}
	return NULL;
}

struct sframe_window *sframe_lookup(struct sframe_registry *reg,
				    unsigned long ip)
{
	struct model_window *window = lookup(ip);
	struct find *find = &model.finds[model.nr_finds];

	if (!model.rcu_depth)
		finding("windows are looked up outside of RCU");
	if (model.nr_finds == MAX_FINDS)
		finding("lookups without end");
	model.nr_finds++;
	find->ip = ip;
	find->window = window ? &window->window : NULL;
	find->seq = model.registry.seq;
	find->read = false;
	/* As if it happened while the tree was walked. */
	tick();
	return window ? &window->window : NULL;
}

bool __sframe_mm_has_windows(struct mm_struct *mm)
{
	return model.nr_windows;
}

struct sframe_window *sframe_window_alloc(void)
{
	struct model_window *window = &model.windows[model.nr_windows];

	if (model.nr_windows == MAX_WINDOWS || model.no_memory)
		return NULL;
	memset(window, 0, sizeof(*window));
	window->window.refs.refs = 1;
	return &window->window;
}

void sframe_window_free(struct sframe_window *window)
{
	if (window != &model.windows[model.nr_windows].window)
		finding("a window is freed that was published");
}

static bool overlaps(const struct sframe_window *window,
		     const struct model_window *other)
{
	return other && window->text_start < other->window.text_end &&
	       other->window.text_start < window->text_end;
}

/* A replacement stays aside until its event. */
static int publish_successor(struct model_window *window)
{
	const struct model_window *old = model.at[0];

	if (!old || window->window.text_start > old->window.text_start ||
	    window->window.text_end < old->window.text_end)
		return -EINVAL;
	model.successor = window;
	return 0;
}

static int publish(struct sframe_window *window, bool successor)
{
	struct model_window *mine = &model.windows[model.nr_windows];
	int ret = 0;

	if (window != &mine->window || window->key > 1)
		finding("an unknown window is registered");
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

static void same(bool is_same, const char *what)
{
	if (!is_same)
		finding(what);
}

static void compare_windows(const struct sframe_window *window,
			    const struct ref_window *ref)
{
	const struct sframe_section *section = &window->section;

	same(section->start == ref->addr && section->length == ref->length,
	     "another section was registered");
	same(section->fdes == ref->addr + ref->fdes &&
	     section->num_fdes == ref->num_fdes,
	     "another index was registered");
	same(section->fres == ref->addr + ref->fres &&
	     section->fres_end == ref->addr + ref->fres_end,
	     "other rows were registered");
	same(section->live == ref->live, "live is not live");
	same(window->text_start == ref->text_start &&
	     window->text_end == ref->text_end,
	     "another text range was registered");
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
	compare_windows(&mine->window, &ref);
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

struct find *model_take_find(unsigned long ip)
{
	struct find *find = &model.finds[model.next_find];

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

int model_section_byte(const struct ref_window *ref, unsigned long off,
		       u8 *value)
{
	struct region *region = &model.regions[REGION_SECTION];
	unsigned long addr = ref->addr + off;
	struct shadow *shadow;

	if (addr - region->base >= region->size)
		return -EFAULT;
	shadow = &model.shadow[addr - region->base];
	if (shadow->step != model.step)
		finding("a byte that is needed was not read");
	*value = shadow->value;
	return shadow->fault ? -EFAULT : 0;
}

/* The kernel's frame in the reference's terms. */
static struct ref_rule plain_rule(const struct unwind_user_rule *rule)
{
	struct ref_rule plain = {
		.base = REF_OTHER,
		.load = rule->deref,
		.off = rule->off,
	};

	if (rule->base == UNWIND_USER_BASE_NONE)
		return (struct ref_rule) { .base = REF_NONE };
	if (rule->base == UNWIND_USER_BASE_CFA)
		plain.base = REF_CFA;
	else if (rule->base == UNWIND_USER_BASE_SP)
		plain.base = REF_SP;
	else if (rule->base == UNWIND_USER_BASE_FP)
		plain.base = REF_FP;
	else
		plain.reg = rule->regnum;
	return plain;
}

static bool same_rule(const struct unwind_user_rule *rule,
		      const struct ref_rule *want)
{
	struct ref_rule plain = plain_rule(rule);

	return ref_same_rule(&plain, want);
}

static void compare_frames(const struct unwind_user_frame *frame,
			   const struct ref_frame *want)
{
	same(frame->outermost == want->outermost, "outermost or not");
	same(frame->signal == want->signal, "signal frame or not");
	if (want->outermost || want->signal)
		return;
	same(same_rule(&frame->cfa, &want->cfa), "another rule for the CFA");
	same(same_rule(&frame->ra, &want->ra), "another rule for the RA");
	same(same_rule(&frame->fp, &want->fp), "another rule for the FP");
}

enum sframe_reason __real_sframe_find_frame(const struct sframe_window *window,
					    unsigned long ip,
					    struct unwind_user_frame *frame,
					    unsigned int *budget);
enum sframe_reason
__real_sframe_find_frame_nofault(const struct sframe_window *window,
				 unsigned long ip,
				 struct unwind_user_frame *frame,
				 unsigned int *budget);

/* The largest that one count of the budget stands for. */
#define BYTES_PER_READ		64

static void check_bounds(unsigned int spent, unsigned int before,
			 unsigned int after)
{
	same(after <= before, "the budget grows");
	same(before - after == spent, "the budget is counted otherwise");
	same(model.section_bytes <= spent * BYTES_PER_READ,
	     "more is read than the budget allows");
}

static void next_step(void)
{
	if (++model.step)
		return;
	/* What is left of four billion steps ago would look like this one's. */
	memset(model.shadow, 0, model.regions[REGION_SECTION].size *
	       sizeof(*model.shadow));
	model.step = 1;
}

enum sframe_reason model_find(const struct sframe_window *window,
			      unsigned long ip,
			      struct unwind_user_frame *frame,
			      unsigned int *budget, bool nofault)
{
	struct find *find = &model.finds[model.nr_finds - 1];
	const struct model_window *mine = (const void *)window;
	unsigned int before = *budget, spent = 0;
	enum sframe_reason want;

	same(!model.walks || before == model.budget_left,
	     "the budget of a walk is not what is left");
	next_step();
	model.reading = mine;
	model.rmbs_before = model.rmbs;
	model.counted = false;
	model.section_bytes = 0;
	if (nofault)
		find->reason = __real_sframe_find_frame_nofault(window, ip,
								frame, budget);
	else
		find->reason = __real_sframe_find_frame(window, ip, frame,
							budget);
	model.reading = NULL;
	model.budget_left = *budget;
	find->read = true;
	find->seq_behind = model.registry.seq;

	want = ref_find(&mine->ref, ip, before, &find->frame, &spent);
	same(find->reason == want, "another reason");
	if (!want)
		compare_frames(frame, &find->frame);
	check_bounds(spent, before, *budget);
	return find->reason;
}

enum sframe_reason __wrap_sframe_find_frame(const struct sframe_window *window,
					    unsigned long ip,
					    struct unwind_user_frame *frame,
					    unsigned int *budget)
{
	if (model.faults_disabled)
		finding("the accessor that faults where faults are disabled");
	return model_find(window, ip, frame, budget, false);
}

enum sframe_reason
__wrap_sframe_find_frame_nofault(const struct sframe_window *window,
				 unsigned long ip,
				 struct unwind_user_frame *frame,
				 unsigned int *budget)
{
	return model_find(window, ip, frame, budget, true);
}

/* A run. */

void model_reset(void)
{
	model_mm.sframe = &model.registry;
	shim_task.mm = &model_mm;
	model.nr_windows = 0;
	model.at[0] = NULL;
	model.at[1] = NULL;
	model.successor = NULL;
	model.registry.seq = 0;
	model.nr_events = 0;
	model.next_event = 0;
	model.due = ~0u;
	model.page_events = 0;
	model.at_access = NULL;
	model.no_memory = false;
}

void model_start(bool faults_disabled)
{
	model.faults_disabled = faults_disabled;
	model.clock = 0;
	model.nr_loads = 0;
	model.next_load = 0;
	model.nr_finds = 0;
	model.next_find = 0;
	model.rcu_depth = 0;
	model.reading = NULL;
	model.open = false;
	model.walks = false;
}

void model_end(void)
{
	unsigned int i;

	same(!model.open, "user access is left open");
	same(!model.rcu_depth, "RCU is left locked");
	for (i = 0; i < model.nr_windows; i++) {
		const struct model_window *window = &model.windows[i];
		bool held = window == model.at[0] || window == model.at[1] ||
			    window == model.successor;

		same(window->window.refs.refs == held, "a window stays pinned");
	}
}
