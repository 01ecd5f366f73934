/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * What the unwinder uses of the kernel, in user space. Each header of the
 * kernel that it includes is this one (fuzz.mk). Accesses to user memory go to
 * the model, which also knows the rules for them: see model.h.
 */
#ifndef FUZZ_SHIM_H
#define FUZZ_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef unsigned char u8, __u8;
typedef unsigned short u16, __u16;
typedef unsigned int u32, __u32;
typedef unsigned long long u64, __u64;
typedef signed char s8, __s8;
typedef short s16, __s16;
typedef int s32, __s32;
typedef long long s64, __s64;
typedef unsigned long __kernel_size_t;

#include "machine.h"
#include "number.h"

#define CONFIG_COMPAT			1
#define CONFIG_UPROBES			1
#define CONFIG_UNWIND_USER		1
#define CONFIG_UNWIND_USER_SFRAME	1
#define CONFIG_UNWIND_USER_SFRAME_FILES	1
#define CONFIG_HAVE_UNWIND_USER_SFRAME	1
#define CONFIG_PERF_SFRAME_CALLCHAIN	1
#define __KERNEL__			1

/* Expands to an extra argument before the 1 below if the option is 1. */
#define SHIM_IS_1			0,
#define SHIM_SECOND(first, second, ...)	second
#define SHIM_CHOOSE(...)		SHIM_SECOND(__VA_ARGS__, 0, 0)
#define SHIM_ENABLED(value)		SHIM_CHOOSE(SHIM_IS_##value 1)
#define IS_ENABLED(option)		SHIM_ENABLED(option)

/* compiler */
#define __user
#define __force
#define __packed		__attribute__((packed))
#define __counted_by(member)
#define __uninitialized
#define typeof			__typeof__
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define noinline		__attribute__((noinline))
#define ____cacheline_aligned_in_smp
#define static_assert(...)	_Static_assert(__VA_ARGS__, #__VA_ARGS__)
#define unrolled_count(n)
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define WARN_ONCE(cond, ...) \
	do { if (cond) finding("a kernel warning"); } while (0)

void finding(const char *what) __attribute__((noreturn));

/* The return value of sframe_files_open(), see no-files.h. */
#define NO_FILES_DESCRIPTOR	7

/* numbers */
#define EPERM			1
#define EINTR			4
#define EFAULT			14
#define EEXIST			17
#define ENOENT			2
#define E2BIG			7
#define ENOMEM			12
#define EAGAIN			11
#define EINVAL			22
#define ERANGE			34
#define ESRCH			3
#define ENOLINK			67
#define ELOOP			40
#define ENODATA			61
#define EOPNOTSUPP		95

#define U8_MAX			0xffU
#define S8_MAX			0x7f
#define U16_MAX			0xffffU
#define U32_MAX			0xffffffffU
#define ULONG_MAX		(~0UL)
#define __ffs64(word)		((unsigned int)__builtin_ctzll(word))
#define fls64(word)		((word) ? 64 - __builtin_clzll(word) : 0)
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define __BIG_ENDIAN		4321
#endif
#define swab32(value)		__builtin_bswap32(value)
#define SZ_4K			0x1000
#define SZ_64K			0x10000
#define mmap_min_addr		0x10000UL
#define unreachable()		__builtin_unreachable()
#define BITS_PER_LONG		64
#define BIT(nr)			(1UL << (nr))
#define GENMASK(high, low)	((~0UL << (low)) & (~0UL >> (63 - (high))))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define IS_ALIGNED(x, a)	(((x) & ((__typeof__(x))(a) - 1)) == 0)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define check_add_overflow(a, b, sum)	__builtin_add_overflow(a, b, sum)

#define min(a, b) ({			\
	__typeof__(a) min_a = (a);	\
	__typeof__(b) min_b = (b);	\
	min_a < min_b ? min_a : min_b;	\
})

#define max(a, b) ({			\
	__typeof__(a) max_a = (a);	\
	__typeof__(b) max_b = (b);	\
	max_a > max_b ? max_a : max_b;	\
})

#define for_each_set_bit(bit, mask, size)			\
	for ((bit) = 0; (bit) < (size); (bit)++)		\
		if (*(mask) & BIT(bit))

/* Pages may be small here: more of a small input lies at a page's end. */
#ifndef PAGE_SHIFT
#define PAGE_SHIFT		7
#endif
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define offset_in_page(p)	((unsigned long)(p) & (PAGE_SIZE - 1))
#define TASK_SIZE		((1UL << 47) - 4096)
#define TASK_SIZE_MAX		TASK_SIZE

/* memory, time */
void *calloc(size_t nr, size_t size);
void free(void *mem);
u64 local_clock(void);

#define kfree(mem)			free(mem)

/* order, RCU, page faults, references */
void shim_rmb(void);
void shim_rcu_unlock(int *unused);
int shim_rcu_lock(void);
void shim_pagefault_unlock(int *unused);
int shim_pagefault_lock(void);
#define pagefault_disable()	((void)shim_pagefault_lock())
#define pagefault_enable()	shim_pagefault_unlock(NULL)
void shim_preempt_unlock(int *unused);
int shim_preempt_lock(void);

/* There is no other task to schedule. */
#define need_resched()		false
#define cond_resched()		((void)0)
#define fatal_signal_pending(task)	false

#define smp_rmb()		shim_rmb()
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define guard(name)						\
	int __attribute__((cleanup(shim_##name##_unlock), unused))	\
		guard_##name = shim_##name##_lock

typedef struct {
	int refs;
} refcount_t;

typedef struct {
	int counter;
} atomic_t;

#define atomic_read(v)		READ_ONCE((v)->counter)

struct rcu_head {
	void *unused;
};

struct mutex {
	int unused;
};

struct maple_tree {
	int unused;
};

/* tasks */
#ifndef MACHINE_CONTEXT
#define MACHINE_CONTEXT
#endif

struct mm_struct {
	struct sframe_registry *sframe;
	MACHINE_CONTEXT
};

struct return_instance {
	struct return_instance *next;
	unsigned long stack;
	unsigned long orig_ret_vaddr;
};

struct uprobe_task {
	struct return_instance *return_instances;
	void *active_uprobe;
	unsigned long vaddr;
	unsigned long xol_vaddr;
};

#ifndef MACHINE_THREAD
#define MACHINE_THREAD
#endif

struct task_struct {
	struct mm_struct *mm;
	struct uprobe_task *utask;
	unsigned int flags;
	MACHINE_THREAD
};

extern struct task_struct shim_task;
extern struct pt_regs shim_regs;
extern unsigned long shim_trampoline;
extern bool shim_function_start;
extern bool shim_compat;

#define current				(&shim_task)
#define PF_KTHREAD			0x00200000
#define task_pt_regs(task)		(&shim_regs)
#define in_compat_syscall()		shim_compat
#define uprobe_get_trampoline_vaddr()	shim_trampoline

typedef struct {
	unsigned long sig[1];
} sigset_t;

typedef struct {
	void *ss_sp;
	int ss_flags;
	__kernel_size_t ss_size;
} stack_t;

/* perf; the count precedes the addresses */
struct perf_callchain_entry {
	u64 nr;
	u64 *ip;
};

struct perf_callchain_entry_ctx {
	struct perf_callchain_entry *entry;
	u32 max_stack;
	u32 nr;
	bool contexts_maxed;
};

static inline int perf_callchain_store(struct perf_callchain_entry_ctx *ctx,
				       u64 ip)
{
	if (ctx->nr >= ctx->max_stack || ctx->contexts_maxed)
		return -1;
	ctx->entry->ip[ctx->entry->nr++] = ip;
	ctx->nr++;
	return 0;
}

/* user memory; 0 or -EFAULT unless said otherwise */
bool shim_access_ok(unsigned long addr, unsigned long size, bool small);
bool shim_access_begin(unsigned long addr, unsigned long size);
void shim_access_end(void);
int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size);
int shim_get_user(void *dst, unsigned long addr, unsigned int size);
int shim_get_user_unchecked(void *dst, unsigned long addr, unsigned int size);
void shim_might_fault(void);
/* bytes that are not there, or were not copied */
size_t fault_in_readable(const char *src, size_t size);
unsigned long copy_from_user(void *dst, const void *src, unsigned long size);
int copy_struct_from_user(void *dst, size_t ksize, const void *src,
			  size_t usize);
int copy_struct_to_user(void *dst, size_t usize, const void *src, size_t ksize,
			bool *ignored);

#define might_fault()		shim_might_fault()
#define untagged_addr(addr)	(addr)
#define access_ok(ptr, size)						\
	shim_access_ok((unsigned long)(ptr), size,			\
		       __builtin_constant_p(size) && (size) <= PAGE_SIZE)
#define user_read_access_begin(ptr, size) \
	shim_access_begin((unsigned long)(ptr), size)
#define user_read_access_end()	shim_access_end()

/* Architectures have a mask for addresses, or checks that do the same. */
extern bool shim_has_mask;
unsigned long shim_mask(unsigned long addr);
/* of a pointer to bytes: those of a table */
unsigned long shim_mask_table(unsigned long addr);
unsigned long shim_index_nospec(unsigned long index, unsigned long size);

#define can_do_masked_user_access()		shim_has_mask
#define masked_user_read_access_begin(ptr)	((void)shim_access_begin(0, 1))
#define mask_user_address(ptr)						\
	((const void *)_Generic((ptr), const u8 *: shim_mask_table,	\
				default: shim_mask)((unsigned long)(ptr)))
#define array_index_nospec(index, size)		shim_index_nospec(index, size)

#define unsafe_get_user(x, ptr, label) do {				\
	u8 user_value[8] = {};						\
	if (shim_unsafe_load(user_value, (unsigned long)(ptr),		\
			     sizeof(*(ptr))))				\
		goto label;						\
	(x) = (__typeof__(*(ptr)))get_number(user_value, sizeof(*(ptr)));	\
} while (0)

#define shim_get(function, x, ptr) ({					\
	u8 user_value[8] = {};						\
	int user_ret = function(user_value, (unsigned long)(ptr),	\
				sizeof(*(ptr)));			\
	(x) = (__typeof__(*(ptr)))get_number(user_value, sizeof(*(ptr)));	\
	user_ret;							\
})

#define get_user(x, ptr)	shim_get(shim_get_user, x, ptr)
#define __get_user(x, ptr)	shim_get(shim_get_user_unchecked, x, ptr)

#include "registers.h"

#endif
