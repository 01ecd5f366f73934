// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The agent: ask the VM for its code and keep the windows up to date.
 *
 * Events of compiled methods are queued after the code was installed. Until the
 * event arrives stacks end in the method. So most methods are found earlier, on
 * the thread that compiled them. If one is missed, the agent looks for all
 * others that were missed, too.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sfjit.h>

#include "early.h"
#include "flow.h"
#include "jvmti.h"
#include "stubs.h"
#include "table.h"
#include "vm.h"

#define EXPORT	__attribute__((visibility("default")))

static struct vm vm;
static bool started;

/* ---- Messages -------------------------------------------------------- */

/* Like the module's report.c: a FIFO without a reader must not block. */
static int open_log(const char *path)
{
	return open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK |
		    O_NOCTTY | O_CLOEXEC, 0600);
}

/* Writes to the log of `sfjit run', if there is one. */
__attribute__((format(printf, 1, 2)))
static void write_log(const char *format, ...)
{
	const char *log = getenv("SFJIT_LOG");
	int fd = log ? open_log(log) : STDERR_FILENO;
	char line[512];
	struct timespec now;
	va_list args;
	int n;

	if (fd < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	n = snprintf(line, sizeof(line), "sfjit: %d %ld.%09ld ", getpid(),
		     (long)now.tv_sec, now.tv_nsec);
	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - n, format, args);
	va_end(args);
	/* One write, as others append to the log. */
	dprintf(fd, "%s", line);
	if (log)
		close(fd);
}

/* ---- Code ------------------------------------------------------------ */

static void publish_code(const struct flow_code *code,
			 const struct vm_method *method, bool made)
{
	uintptr_t start = (uintptr_t)code->text - code->lead;
	struct table_code new = {
		.start = start, .end = start + code->lead + code->size,
	};
	struct flow_rows rows;

	if (made) {
		new.made = true;
		new.sum = table_sum(start, new.end);
	}
	if (flow_rows(code, &rows))
		return;
	new.rows = rows.rows;
	new.nr_rows = rows.nr;
	if (method)
		new.method = *method;
	table_lock();
	/*
	 * A collection may have freed the method, and reported it, meanwhile.
	 */
	if ((method && !vm_method_is(&vm, method)) || table_add(&new))
		free(rows.rows);
	table_unlock();
}

static void publish_method(const struct vm_method *m, bool made)
{
	struct flow_entry entries[5];
	struct flow_code code = {
		.text = (const uint8_t *)m->begin,
		.size = m->end - m->begin,
		.frame = m->frame,
		.entries = entries,
		.rest = m->is_native ? FLOW_NOTHING : FLOW_FRAME,
		.rest_from = m->frame_complete - m->begin,
		.stubs_from = m->stubs ? m->stubs - m->begin : UINT32_MAX,
	};
	const struct { uintptr_t at; enum flow_kind kind; } all[] = {
		{ m->entry, FLOW_CALLED },
		{ m->verified_entry, FLOW_CALLED },
		{ m->osr_entry, FLOW_CALLED },
		{ m->exception, FLOW_FRAME },
		{ m->deopt, FLOW_FRAME },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].at >= m->begin && all[i].at < m->end)
			entries[code.nr_entries++] = (struct flow_entry){
				all[i].at - m->begin, all[i].kind };
	if (m->deopt > m->begin && m->deopt < m->end)
		code.returned_to = m->deopt - m->begin;
	publish_code(&code, m, made);
}

/*
 * Callers are looked up by the address before the return address. Where a
 * codelet is only returned to, that byte is the end of a header: include it.
 */
static void publish_codelet(const struct vm_codelet *codelet)
{
	struct flow_entry entry = { 0, stub_codelet_kind(codelet->name) };
	bool body = entry.kind == FLOW_SENDER_FRAME;
	struct flow_code code = {
		.text = (const uint8_t *)codelet->begin,
		.size = codelet->end - codelet->begin,
		.entries = &entry,
		.nr_entries = 1,
		.rest = body ? entry.kind : stub_rest(codelet->name),
		.stubs_from = UINT32_MAX,
		.lead = body,
		.inner_calls = true,
	};

	publish_code(&code, NULL, false);
}

static void publish_interpreter(void)
{
	struct vm_codelet codelet = { };
	char name[200];

	while (vm_next_codelet(&vm, &codelet)) {
		if (codelet.begin >= codelet.end)
			continue;
		publish_codelet(&codelet);
		snprintf(name, sizeof(name), "Interpreter: %s", codelet.name);
		sfjit_perf_map_name((void *)codelet.begin,
				    codelet.end - codelet.begin, name);
	}
}

/* ---- Events ---------------------------------------------------------- */

/* Turns Lpackage/Class; into package.Class. */
static void class_name(char *signature)
{
	size_t length = strlen(signature);
	char *c;

	for (c = signature; *c; c++)
		if (*c == '/')
			*c = '.';
	if (length > 1 && signature[length - 1] == ';')
		signature[length - 1] = '\0';
}

/* Returns whether the method is new. */
static bool publish_once(const struct vm_method *m, bool installed)
{
	bool known;

	table_lock();
	known = table_has(m, installed);
	table_unlock();
	if (!known)
		publish_method(m, !installed);
	return !known;
}

/* Methods freed meanwhile are removed when the collection ends. */
static void publish_installed(uintptr_t kind)
{
	struct vm_place place = { };
	struct vm_method m;

	while (vm_next_installed(&vm, kind, &place, &m))
		publish_once(&m, true);
}

/*
 * Stubs for calls of interpreted methods are called, so they get their own
 * name.
 */
static void write_method_name(const struct vm_method *m, const char *name)
{
	uintptr_t handlers = m->exception < m->deopt ? m->exception : m->deopt;
	char stub[1010];

	if (!m->stubs || handlers <= m->stubs || handlers >= m->end) {
		sfjit_perf_map_name((void *)m->begin, m->end - m->begin, name);
		return;
	}
	snprintf(stub, sizeof(stub), "%s [call]", name);
	sfjit_perf_map_name((void *)m->begin, m->stubs - m->begin, name);
	sfjit_perf_map_name((void *)m->stubs, handlers - m->stubs, stub);
	sfjit_perf_map_name((void *)handlers, m->end - handlers, name);
}

static void name_method(ti_env ti, void *method, const struct vm_method *m)
{
	char *class = NULL, *name = NULL, both[1000];
	void *of = NULL;

	if (TI(ti, TI_GET_METHOD_NAME, void *, char **, char **, char **)(ti,
			method, &name, NULL, NULL))
		return;
	if (!TI(ti, TI_GET_METHOD_CLASS, void *, void **)(ti, method, &of) &&
	    !TI(ti, TI_GET_CLASS_SIGNATURE, void *, char **, char **)(ti, of,
			&class, NULL))
		class_name(class);
	snprintf(both, sizeof(both), "%s::%s",
		 class ? class + (*class == 'L') : "", name);
	write_method_name(m, both);
	TI(ti, TI_DEALLOCATE, char *)(ti, name);
	if (class)
		TI(ti, TI_DEALLOCATE, char *)(ti, class);
}

/* The name of the kind of compiled methods, which the VM stores once. */
static uintptr_t compiled;

/*
 * Methods found before their event, those found unfinished before, and those
 * found by their event.
 */
static unsigned long nr_before, nr_again, nr_late;

/* All heaps are in this range. */
static uintptr_t lowest, highest;

static void count_method(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void on_word(uintptr_t word, bool installed)
{
	uintptr_t kind = __atomic_load_n(&compiled, __ATOMIC_RELAXED);
	struct vm_method m;

	if (word < lowest || word >= highest || !started || !kind ||
	    !(installed ? vm_installed : vm_made)(&vm, kind, word, &m))
		return;
	if (publish_once(&m, installed))
		count_method(installed ? &nr_again : &nr_before);
}

/* If this method was missed, others may have been missed, too. */
static void on_load(ti_env ti, void *method, int32_t length, const void *start,
		    int32_t map_length, const void *map, const void *info)
{
	struct vm_method m;

	if (!started || !vm_method(&vm, (uintptr_t)start, &m))
		return;
	if (!m.is_native)
		__atomic_store_n(&compiled, m.name, __ATOMIC_RELAXED);
	if (publish_once(&m, true)) {
		count_method(&nr_late);
		publish_installed(m.name);
	}
	name_method(ti, method, &m);
}

static bool is_installed_method(const struct vm_method *method)
{
	struct vm_method m;

	return vm_installed(&vm, method->name, method->blob, &m) &&
	       m.compile_id == method->compile_id;
}

/* The memory may already hold another installed method, which stays. */
static void on_unload(ti_env ti, void *method, const void *start)
{
	table_lock();
	table_remove((uintptr_t)start, is_installed_method);
	table_unlock();
}

static void on_dynamic_code(ti_env ti, const char *name, const void *start,
			    int32_t length)
{
	struct flow_entry entry = { };
	struct flow_code code = {
		.text = start,
		.size = length,
		.entries = &entry,
		.nr_entries = 1,
		.rest = stub_rest(name),
		.stubs_from = UINT32_MAX,
	};

	if (length <= 0 || !vm_is_code(&vm, (uintptr_t)start, length))
		return;
	entry.kind = stub_kind(name, start);
	if (stub_moves_frames(name))
		sfjit_perf_map_name(start, length, name);
	if (entry.kind == FLOW_NOTHING || (!stub_is_kept(name) &&
	    vm_is_buffer(&vm, (uintptr_t)start, name)))
		return;
	publish_code(&code, NULL, false);
	sfjit_perf_map_name(start, length, name);
}

static bool is_used(const struct vm_method *method)
{
	return vm_method_is(&vm, method);
}

/* Freed memory is reused from now on; the unload events come later. */
static void on_gc_finish(ti_env ti)
{
	if (!started)
		return;
	table_lock();
	table_remove_unused(is_used);
	table_unlock();
}

static bool add_heaps(void)
{
	struct vm_heap heaps[VM_MAX_HEAPS];
	unsigned int i, nr = vm_heaps(&vm, heaps);

	lowest = UINTPTR_MAX;
	for (i = 0; i < nr; i++) {
		if (table_add_heap(heaps[i].low, heaps[i].high))
			return false;
		if (heaps[i].low < lowest)
			lowest = heaps[i].low;
		if (heaps[i].high > highest)
			highest = heaps[i].high;
	}
	return nr;
}

/*
 * The heaps exist, and no Java code has run. Most stub events came earlier, so
 * request them again later.
 */
static void on_start(ti_env ti, void *jni)
{
	bool added;

	table_lock();
	added = add_heaps();
	table_unlock();
	if (added)
		publish_interpreter();
	else
		write_log("this Java VM has no code heaps; its code runs "
			  "without windows\n");
	table_lock();
	started = added;
	table_unlock();
}

static void on_init(ti_env ti, void *jni, void *thread)
{
	if (!started)
		return;
	TI(ti, TI_GENERATE_EVENTS, int)(ti, TI_DYNAMIC_CODE);
	TI(ti, TI_GENERATE_EVENTS, int)(ti, TI_METHOD_LOAD);
}

static void on_death(ti_env ti, void *jni)
{
	struct table_stat stat;

	if (!started || (!getenv("SFJIT_VERBOSE") && !getenv("SFJIT_LOG")))
		return;
	table_lock();
	table_stat(&stat);
	table_unlock();
	write_log("java windows=%zu pieces=%zu bytes=%lu calls=%lu before=%lu "
		  "again=%lu late=%lu error=%d\n", stat.windows, stat.codes,
		  stat.bytes, stat.tables, nr_before, nr_again, nr_late,
		  -stat.error);
}

/* ---- Start ----------------------------------------------------------- */

/*
 * Memory that a heap commits later would be walked by frame pointers until the
 * first event of code in it. So commit whole heaps now, which costs only
 * address space.
 */
static void commit_heaps(void)
{
	uint64_t *initial = vm_flag(&vm, "InitialCodeCacheSize");
	const uint64_t *reserved = vm_flag(&vm, "ReservedCodeCacheSize");

	if (initial && reserved && *initial < *reserved)
		*initial = *reserved;
}

#define CALL(event, function) \
	[(event) - TI_FIRST_EVENT] = (void (*)(void))(function)

static const struct ti_callbacks callbacks = { {
	CALL(TI_VM_START, on_start),
	CALL(TI_VM_INIT, on_init),
	CALL(TI_VM_DEATH, on_death),
	CALL(TI_METHOD_LOAD, on_load),
	CALL(TI_METHOD_UNLOAD, on_unload),
	CALL(TI_DYNAMIC_CODE, on_dynamic_code),
	CALL(TI_GC_FINISH, on_gc_finish),
} };

static void can(struct ti_capabilities *capabilities, unsigned int bit)
{
	capabilities->bits[bit / 32] |= 1u << bit % 32;
}

static bool enable_events(ti_env ti)
{
	struct ti_capabilities want = { };
	int event;

	can(&want, TI_CAN_METHOD_LOAD);
	can(&want, TI_CAN_GC);
	can(&want, TI_CAN_EARLY_START);
	if (TI(ti, TI_ADD_CAPABILITIES, const void *)(ti, &want) ||
	    TI(ti, TI_SET_CALLBACKS, const void *, int)(ti, &callbacks,
			sizeof(callbacks)))
		return false;
	for (event = TI_FIRST_EVENT; event <= TI_LAST_EVENT; event++)
		if (callbacks.of[event - TI_FIRST_EVENT])
			TI(ti, TI_SET_EVENT_MODE, int, int, void *, ...)(ti, 1,
					event, NULL);
	return true;
}

/*
 * The program runs in any case. `sfjit run' reports a kernel without windows.
 */
EXPORT int32_t Agent_OnLoad(ti_vm *java_vm, char *options, void *reserved)
{
	const char *missing;
	ti_env ti;

	if (!sfjit_available(SFJIT_QUERY_KERNEL))
		return 0;
	if (((int (*)(ti_vm *, ti_env *, int))(*java_vm)[TI_GET_ENV])(java_vm,
			&ti, TI_VERSION)) {
		write_log("this Java VM has no JVMTI; its code runs without "
			  "windows\n");
		return 0;
	}
	if (!vm_find((*ti)[TI_SET_CALLBACKS - 1], &vm, &missing)) {
		write_log("this Java VM does not describe %s; its code runs "
			  "without windows\n", missing);
		return 0;
	}
	if (!enable_events(ti)) {
		write_log("this Java VM does not report its code, which runs "
			  "without windows\n");
		return 0;
	}
	commit_heaps();
	if (!early_start((*ti)[TI_SET_CALLBACKS - 1], on_word))
		write_log("this Java VM locks and wakes in an unknown way; "
			  "methods get their windows late\n");
	return 0;
}
