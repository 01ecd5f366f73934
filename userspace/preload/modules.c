// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * dl_iterate_phdr() lists the program, its libraries, ld.so, the vDSO and this
 * module itself. It holds a lock during the callback, which a child does not get
 * back if another thread forks then: tables, which take long, are made later.
 */
#include <link.h>
#include <string.h>

#include "arena.h"
#include "cache.h"
#include "divert.h"
#include "jit.h"
#include "libc.h"
#include "make_table.h"
#include "modules.h"
#include "report.h"
#include "self.h"
#include "sys.h"
#include "windows.h"

#define SLAB	4096UL

/* How often text that was replaced is compared: it may be done in pieces. */
#define TRIES	64

enum module_todo {
	MODULE_DONE,
	MODULE_LOAD,		/* it is new */
	MODULE_REVISIT,		/* others were unloaded */
};

/* A module without windows is kept, so that it is not tried again. */
struct module {
	struct module *next;
	uintptr_t bias;
	const void *phdr;
	uint64_t identity;
	bool initial;		/* loaded at start: never unloaded */
	bool seen;
	enum module_todo todo;
	struct dl_phdr_info info;	/* as of the last scan */
	unsigned int refused;	/* of its windows, by the kernel */
	int error;		/* the first one's */
	bool replaced;		/* memory was mapped over its text */
	unsigned int tries;	/* since then */
	uint64_t sum;		/* text before that */
	struct table table;	/* and its windows */
};

struct counters {
	unsigned long long adds, subs;
};

struct scan {
	struct counters counters;
	bool initial, fresh, stay;
	bool removals;
};

static struct module *modules, *unused;
static bool any_replaced;
static struct counters last;

static int read_counters(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct counters *c = arg;

	c->adds = info->dlpi_adds;
	c->subs = info->dlpi_subs;
	return 1;
}

bool modules_added(void)
{
	struct counters now = { 0 };

	dl_iterate_phdr(read_counters, &now);
	return now.adds != last.adds;
}

static void grow_modules(void)
{
	struct module *m = sys_map(SLAB);
	size_t i;

	for (i = 0; m && i < SLAB / sizeof(*m); i++) {
		m[i].next = unused;
		unused = &m[i];
	}
}

static struct module *find_known_module(const struct dl_phdr_info *info)
{
	struct module *m;

	for (m = modules; m; m = m->next)
		if (m->bias == info->dlpi_addr && m->phdr == info->dlpi_phdr)
			return m;
	return NULL;
}

static struct module *add_known_module(const struct dl_phdr_info *info)
{
	struct module **last = &modules, *m;

	if (!unused)
		grow_modules();
	m = unused;
	if (!m)
		return NULL;
	unused = m->next;
	memset(m, 0, sizeof(*m));
	m->bias = info->dlpi_addr;
	m->phdr = info->dlpi_phdr;
	while (*last)
		last = &(*last)->next;
	*last = m;
	return m;
}

static int register_window(const struct module *m, const struct window *w)
{
	const uintptr_t start = m->bias + w->start;
	const struct windows_entry entry = {
		.key = start, .table = m->table.data,
		.length = m->table.length, .start = start,
		.end = start + w->length, .bias = m->bias,
	};

	return windows_register(&entry);
}

/* Fails if the kernel takes none of them. */
static int register_windows(struct module *m)
{
	const struct table *t = &m->table;
	const struct window *w = table_windows(t);
	const struct window *end = w + t->nr_windows;
	int ret;

	m->refused = 0;
	for (; w < end; w++) {
		ret = register_window(m, w);
		if (ret && !m->refused++)
			m->error = ret;
	}
	return m->refused && m->refused == t->nr_windows ? m->error : 0;
}

static const char *name_of(const struct dl_phdr_info *info)
{
	static char path[1024];
	long n;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	n = SYS(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path,
		sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0 ? path : "(program)";
}

static int make_windows(struct module *m, const struct dl_phdr_info *info,
			const char **reason)
{
	struct image image;
	int ret;

	ret = image_read(&image, info, reason);
	if (ret)
		return ret;
	m->identity = image_identity(&image);
	ret = table_make(&m->table, &image, reason);
	if (ret)
		return ret;
	*reason = "the kernel refuses its windows";
	return register_windows(m);
}

/*
 * Mono compiles methods ahead of time without frame pointers, where it can, and
 * uses rbp there.
 */
static bool is_module_without_fp(const struct dl_phdr_info *info)
{
	return libc_module_symbol(info, "mono_aot_file_info");
}

static void end_stacks(const struct dl_phdr_info *info)
{
	const ElfW(Phdr) *ph, *end = info->dlpi_phdr + info->dlpi_phnum;

	for (ph = info->dlpi_phdr; ph < end; ph++)
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X)
			jit_ends((void *)(info->dlpi_addr + ph->p_vaddr),
				 ph->p_memsz);
}

static void give_module_windows(struct module *m,
				const struct dl_phdr_info *info, bool fresh)
{
	uint64_t start = report_wanted() ? sys_clock_ns() : 0;
	const char *reason = NULL;
	int ret;

	divert_gdb(info, name_of(info), fresh);
	ret = make_windows(m, info, &reason);
	if (ret)
		report_skipped(name_of(info), reason, ret);
	if (ret && is_module_without_fp(info))
		end_stacks(info);
	if (!ret)
		report_registered(name_of(info), &m->table, m->refused,
				  m->error, start ? sys_clock_ns() - start : 0);
}

static bool is_same_module(const struct module *m,
			   const struct dl_phdr_info *info)
{
	const char *reason;
	struct image image;

	return !image_read(&image, info, &reason) &&
	       m->identity == image_identity(&image);
}

/*
 * The kernel dropped the windows when the text was unmapped. Unregistering
 * here could hit another producer's window that has the addresses since.
 */
static void forget_table(struct module *m)
{
	table_free(&m->table);
	m->table.nr_windows = 0;
	m->replaced = false;
}

/*
 * A module was unloaded. The module at a known address may have been loaded
 * since, so that it has no windows yet (-EBUSY: it has them), and may be
 * another file.
 */
static void revisit(struct module *m, const struct dl_phdr_info *info,
		    bool fresh)
{
	if (is_same_module(m, info)) {
		divert_gdb(info, name_of(info), fresh);
		register_windows(m);
		return;
	}
	forget_table(m);
	give_module_windows(m, info, fresh);
}

static void do_todo(struct module *m, bool fresh)
{
	if (m->todo == MODULE_LOAD)
		give_module_windows(m, &m->info, fresh);
	else if (m->todo == MODULE_REVISIT)
		revisit(m, &m->info, fresh);
	m->todo = MODULE_DONE;
	arena_release();
}

static int scan_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct scan *scan = arg;
	struct module *m = find_known_module(info);

	scan->counters.adds = info->dlpi_adds;
	scan->counters.subs = info->dlpi_subs;
	if (m && scan->removals && !m->initial)
		m->todo = MODULE_REVISIT;
	if (!m) {
		m = add_known_module(info);
		if (!m)
			return 0;
		m->initial = scan->initial;
		m->todo = MODULE_LOAD;
	}
	m->info = *info;
	m->seen = true;
	if (!scan->stay)
		do_todo(m, scan->fresh);
	return 0;
}

static void sweep_modules(void)
{
	struct module **link = &modules, *m;

	while ((m = *link)) {
		if (m->seen) {
			m->seen = false;
			link = &m->next;
			continue;
		}
		*link = m->next;
		forget_table(m);
		m->next = unused;
		unused = m;
	}
}

unsigned int modules_scan(bool initial, bool fresh, bool stay)
{
	struct scan scan = {
		.initial = initial, .fresh = fresh, .stay = stay,
	};
	unsigned int with_windows = 0;
	struct counters now = { 0 };
	struct module *m;

	dl_iterate_phdr(read_counters, &now);
	scan.removals = now.subs != last.subs;
	cache_open();
	dl_iterate_phdr(scan_module, &scan);
	for (m = modules; m; m = m->next) {
		if (m->seen)
			do_todo(m, fresh);
		with_windows += m->seen && m->table.nr_windows;
	}
	cache_close();
	last = scan.counters;
	sweep_modules();
	return with_windows;
}

static bool is_module_in(const struct module *m, uintptr_t start, uintptr_t end)
{
	const struct window *w = table_windows(&m->table);
	const struct window *last = w + m->table.nr_windows;

	if (start >= end)
		return false;
	while (w < last && (m->bias + w->start >= end ||
			    m->bias + w->start + w->length <= start))
		w++;
	return w < last;
}

/* False: some text is not mapped. */
static bool sum_module_text(const struct module *m, uint64_t *sum)
{
	const struct window *w = table_windows(&m->table);
	const struct window *last = w + m->table.nr_windows;
	uint64_t at, part;
	char piece[4096];

	*sum = SUM_START;
	for (; w < last; w++) {
		for (at = 0; at < w->length; at += part) {
			part = w->length - at;
			if (part > sizeof(piece))
				part = sizeof(piece);
			if (self_read(m->bias + w->start + at, piece, part) !=
			    part)
				return false;
			*sum = sum_bytes(*sum, piece, part);
		}
	}
	return true;
}

void modules_replace(uintptr_t start, uintptr_t end)
{
	struct module *m;

	for (m = modules; m; m = m->next) {
		if (m->replaced || !is_module_in(m, start, end) ||
		    !sum_module_text(m, &m->sum))
			continue;
		m->replaced = true;
		m->tries = 0;
		__atomic_store_n(&any_replaced, true, __ATOMIC_RELAXED);
	}
}

bool modules_replaced(void)
{
	return __atomic_load_n(&any_replaced, __ATOMIC_RELAXED);
}

/* Those that were not dropped are still there (EBUSY). */
static bool put_back_windows(const struct module *m)
{
	const struct window *w = table_windows(&m->table);
	const struct window *last = w + m->table.nr_windows;
	bool all = true;

	/* EINVAL: some text is not executable yet. */
	for (; w < last; w++)
		all &= register_window(m, w) != -EINVAL;
	if (all)
		report_again(m->bias + table_windows(&m->table)->start);
	return all;
}

void modules_executable(uintptr_t start, uintptr_t end)
{
	bool left = false;
	struct module *m;
	uint64_t sum;

	for (m = modules; m; m = m->next) {
		if (m->replaced && is_module_in(m, start, end)) {
			m->replaced = ++m->tries < TRIES;
			if (sum_module_text(m, &sum) && sum == m->sum &&
			    put_back_windows(m))
				m->replaced = false;
		}
		left |= m->replaced;
	}
	__atomic_store_n(&any_replaced, left, __ATOMIC_RELAXED);
}
