// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The kernel functions that the unwinder calls, and prctl() and walks for the
 * harness.
 */
#include <linux/sframe.h>
#include <linux/unwind_user.h>

#include "sframe.h"
#include "alone.h"
#include "no-files.h"

#define MAX_WINDOWS	128

struct task_struct shim_task;
struct pt_regs shim_regs;
unsigned long shim_trampoline;
bool shim_function_start;
bool shim_compat;

struct user_read *user_log;
unsigned long user_reads, user_sections;

static struct mm_struct task_mm;
static struct sframe_registry registry;
static struct sframe_window *windows[MAX_WINDOWS];
static unsigned int nr_windows;
static u64 walk_limit;
static u64 clock_factor;	/* nanoseconds of 2^32 ticks */

int prctl(int option, unsigned long key, unsigned long arg3, unsigned long arg4,
	  unsigned long arg5);

void finding(const char *what)
{
	__builtin_trap();
}

/* Decoding instructions is not measured here. */
int unwind_user_code_pushes(const u8 *code, unsigned int length)
{
	return -1;
}

/* User memory outside of a step. */

bool shim_access_ok(unsigned long addr, unsigned long size, bool small)
{
	return addr <= TASK_SIZE && size <= TASK_SIZE - addr;
}

int shim_get_user(void *dst, unsigned long addr, unsigned int size)
{
	memcpy(dst, (void *)addr, size);
	return 0;
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	memcpy(dst, src, size);
	return 0;
}

int copy_struct_from_user(void *dst, size_t ksize, const void *src,
			  size_t usize)
{
	memcpy(dst, src, ksize);
	return 0;
}

size_t fault_in_readable(const char *src, size_t size)
{
	return 0;
}

/* The clock only, without the kernel's corrections. */

u64 local_clock(void)
{
	return ((unsigned __int128)__builtin_ia32_rdtsc() * clock_factor) >> 32;
}

/* The registry: a sorted array instead of a tree. */

static unsigned int windows_before(unsigned long ip)
{
	unsigned int low = 0, high = nr_windows, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (windows[mid]->text_start > ip)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip)
{
	unsigned int nr = windows_before(ip);
	struct sframe_window *before = nr ? windows[nr - 1] : NULL;

	if (before && ip < before->text_end)
		return (struct sframe_range){
			.window = before,
			.first = before->text_start,
			.last = before->text_end - 1,
		};
	return (struct sframe_range){
		.first = before ? before->text_end : 0,
		.last = nr < nr_windows ? windows[nr]->text_start - 1 : ULONG_MAX,
	};
}

struct sframe_window *sframe_window_alloc(const struct sframe_window *draft)
{
	struct sframe_window *window = calloc(1, sizeof(*window));

	*window = *draft;
	return window;
}

void sframe_window_free(struct sframe_window *window)
{
	free(window);
}

int sframe_register(struct sframe_window *window, bool replace)
{
	unsigned int at = windows_before(window->text_start);

	if (nr_windows == MAX_WINDOWS)
		finding("too many windows");
	memmove(&windows[at + 1], &windows[at],
		(nr_windows++ - at) * sizeof(*windows));
	windows[at] = window;
	registry.seq++;
	return 0;
}

/* See kernel_forget_windows(). */
int sframe_unregister(unsigned long key)
{
	return 0;
}

void kernel_forget_windows(void)
{
	while (nr_windows)
		sframe_window_free(windows[--nr_windows]);
	registry.seq++;
}

int sframe_window_limit(void)
{
	return MAX_WINDOWS;
}

bool __sframe_mm_has_windows(struct mm_struct *mm)
{
	return nr_windows;
}

u64 sframe_walk_limit(void)
{
	return walk_limit;
}

/* Replaces the system call. */
int prctl(int option, unsigned long key, unsigned long arg3, unsigned long arg4,
	  unsigned long arg5)
{
	if (option != PR_SFRAME_REGISTER)
		return sframe_prctl_unregister(key, arg3, arg4, arg5);
	return sframe_prctl_register(key, arg3, arg4, arg5);
}

/* Walks. */

void kernel_set_clock(double ticks_per_ns)
{
	clock_factor = (1ull << 32) / ticks_per_ns;
}

void kernel_set_limit(uint64_t ns)
{
	walk_limit = ns;
}

static void begin_walk(struct perf_callchain_entry_ctx *entry,
		       struct perf_callchain_entry *chain, unsigned long ip)
{
	*entry = (struct perf_callchain_entry_ctx){
		.entry = chain, .max_stack = KERNEL_MAX_STACK,
	};
	perf_callchain_store(entry, ip);
}

size_t kernel_walk(uintptr_t ip, const void *sp, const void *fp,
		   uint64_t *chain)
{
	struct perf_callchain_entry addresses = { .ip = (u64 *)chain };
	struct perf_callchain_entry_ctx entry;

	shim_task.mm = &task_mm;
	task_mm.sframe = &registry;
	shim_regs.ip = ip;
	shim_regs.sp = (unsigned long)sp;
	shim_regs.bp = (unsigned long)fp;
	shim_regs.cs = __USER_CS;
	begin_walk(&entry, &addresses, ip);
	sframe_callchain_user(&entry, &shim_regs);
	return entry.nr;
}

/* __get_user() of x86-64 uses a fence where the masked access does not. */
static __always_inline unsigned long get_fenced(const unsigned long *ptr)
{
	user_sections++;
	user_note((unsigned long)ptr, sizeof(*ptr));
	__asm__ volatile("lfence" ::: "memory");
	return READ_ONCE(*ptr);
}

size_t kernel_walk_fp(uintptr_t ip, const void *fp, uint64_t *chain)
{
	struct perf_callchain_entry addresses = { .ip = (u64 *)chain };
	struct perf_callchain_entry_ctx entry;
	const unsigned long *frame = fp;
	unsigned long next;

	begin_walk(&entry, &addresses, ip);
	while (entry.nr < entry.max_stack && frame) {
		next = get_fenced(frame);
		if (perf_callchain_store(&entry, get_fenced(frame + 1)))
			break;
		frame = (const unsigned long *)next;
	}
	return entry.nr;
}

size_t kernel_log(struct user_read *log, unsigned long *sections)
{
	size_t reads = user_reads;

	*sections = user_sections;
	user_log = log;
	user_reads = 0;
	user_sections = 0;
	return reads;
}
