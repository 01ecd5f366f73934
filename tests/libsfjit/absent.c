// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: everything works on a kernel without SFrame windows, and under
 * seccomp filters that hide them. With an argument only the filters, on a
 * kernel that has windows.
 */
#include <stddef.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <sfjit/area.h>
#include <sfjit/sframe.h>
#include <slot.h>

#include "test.h"

static long target(void)
{
	return 42;
}

/* Unreadable for this machine's readers, but complete. */
static void area(void)
{
	const struct sfjit_row row = {
		0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE,
		SFJIT_NO_RULE
	};
	struct sfjit_function f = { (uintptr_t)&target, 16, 1, &row, 0, 0 };
	struct sfjit_area *area = NULL;
	struct sfjit_area_info stat;

	IS("create an area", sfjit_area_create(&target, 64, 2, 0, &area), 0);
	IS("publish what does not fit", sfjit_area_publish(area, &f), -ENOSPC);
	IS("grow", sfjit_area_grow(area, NULL, 0, 3, 0), 0);
	IS("publish it", sfjit_area_publish(area, &f), 0);
	f.addr += 16;
	IS("publish another", sfjit_area_publish(area, &f), 0);
	IS("withdraw", sfjit_area_withdraw(area, &target), 0);
	IS("stat of an area", sfjit_area_stat(area, &stat), 0);
	IS("functions", stat.functions, 1);
	IS("no error", stat.error, 0);
	IS("retire an area", sfjit_area_retire(area), 0);
}

/* A whole life of everything; results not named are exactly 0. */
static void live(void)
{
	static unsigned char section[64];
	struct sfjit_pool *pool = NULL;
	struct sfjit_pool_info stat;
	void *entry = NULL;

	IS("not available", sfjit_available(SFJIT_QUERY_KERNEL), 0);
	IS("no limit", sfjit_available(SFJIT_QUERY_LIMIT), 0);
	IS("register", sfjit_register(1, section, 64, section, 64), 0);
	IS("replace", sfjit_replace(1, section, 64, section, 64), 0);
	IS("unregister", sfjit_unregister(1), 0);
	area();
	IS("create", sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool), 0);
	IS("get", sfjit_tramp_get(pool, target, "absent::target", &entry), 0);
	IS("call", ((long (*)(void))entry)(), 42);
	TRUE("name is written",
	     map_has(getpid(), entry, SFJIT_SLOT_SIZE, "absent::target"));
	IS("stat", sfjit_pool_stat(pool, &stat), 0);
	IS("no error is kept", stat.error, 0);
	IS("put", sfjit_tramp_put(pool, entry), 0);
	IS("retire", sfjit_pool_retire(pool), 0);
}

static int filter_error;	/* errno of the filter */

/* Three of prctl()'s options, or all, fail with this error. */
static void install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prctl, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SFRAME_REGISTER, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SFRAME_UNREGISTER,
			 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SFRAME_QUERY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | filter_error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

static int live_under_filter(void)
{
	install_filter();
	errno = 0;
	MUST(prctl(PR_SFRAME_QUERY, 0, 0, 0, 0) == -1 && errno == filter_error);
	live();
	return finish();
}

/* The filter is installed while a pool exists; retire must still work. */
static int filter_in_the_middle(void)
{
	struct sfjit_pool *pool = NULL;
	void *entry = NULL;

	IS("create before the filter",
	   sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool), 0);
	install_filter();
	IS("get after it", sfjit_tramp_get(pool, target, NULL, &entry), 0);
	IS("call after it", ((long (*)(void))entry)(), 42);
	IS("retire after it", sfjit_pool_retire(pool), 0);
	return finish();
}

static void test_filter(int error)
{
	filter_error = error;
	IS("life under a filter", in_child(live_under_filter), 0);
	IS("filter in the middle", in_child(filter_in_the_middle), 0);
}

/* EFAULT: the kernel would accept a filter. */
static bool kernel_has_filters(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1 &&
	       errno == EFAULT;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		MUST(sfjit_available(SFJIT_QUERY_KERNEL));
	else if (sfjit_available(SFJIT_QUERY_KERNEL))
		skip("kernel without windows", "this kernel has them");
	else
		live();
	unlink(map_path(getpid()));
	if (!kernel_has_filters()) {
		skip("life under a filter", "kernel without seccomp filters");
		return finish();
	}
	test_filter(EPERM);
	test_filter(ENOSYS);
	test_filter(EACCES);
	return finish();
}
