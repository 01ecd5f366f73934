// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Bugs made on purpose, to see that the checkers of a debug kernel find them.
 * Loading it with bug=NAME makes one:
 *
 *   kasan  reads past an allocation	ubsan  shifts by too much
 *   rcu    reads without the lock	sleep  sleeps where it must not
 *   leak   forgets an allocation	lock   takes two locks in both orders
 *   race   writes on two CPUs
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#define PLANTED_SIZE	24
#define PLANTED_LEAKS	8
#define PLANTED_RACE_MS	5000

static char *bug = "";
module_param(bug, charp, 0);
MODULE_PARM_DESC(bug, "which one to make");

/* What the compiler must not know. */
static unsigned int planted_number = PLANTED_SIZE;
module_param_named(number, planted_number, uint, 0);
MODULE_PARM_DESC(number, "index past the allocation, and shift count");

static void __rcu *planted_pointer;
static DEFINE_MUTEX(planted_first);
static DEFINE_MUTEX(planted_second);
static unsigned long planted_counter;

static int planted_kasan(void)
{
	u8 *bytes = kzalloc(PLANTED_SIZE, GFP_KERNEL);

	if (!bytes)
		return -ENOMEM;
	pr_info("planted: %u\n", READ_ONCE(bytes[planted_number]));
	kfree(bytes);
	return 0;
}

static int planted_ubsan(void)
{
	pr_info("planted: %d\n", 1 << (planted_number + 8));
	return 0;
}

static int planted_rcu(void)
{
	pr_info("planted: %p\n", rcu_dereference(planted_pointer));
	return 0;
}

static int planted_sleep(void)
{
	guard(preempt)();
	might_sleep();
	return 0;
}

/* More than one: an old stack may still hold the address of the last. */
static int planted_leak(void)
{
	unsigned int i;

	for (i = 0; i < PLANTED_LEAKS; i++)
		pr_info("planted: %p\n", kzalloc(PLANTED_SIZE, GFP_KERNEL));
	return 0;
}

static int planted_lock(void)
{
	mutex_lock(&planted_first);
	mutex_lock(&planted_second);
	mutex_unlock(&planted_second);
	mutex_unlock(&planted_first);

	mutex_lock(&planted_second);
	mutex_lock(&planted_first);
	mutex_unlock(&planted_first);
	mutex_unlock(&planted_second);
	return 0;
}

static int planted_race_thread(void *unused)
{
	while (!kthread_should_stop()) {
		planted_counter++;
		cond_resched();
	}
	return 0;
}

static int planted_race(void)
{
	struct task_struct *threads[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = kthread_run(planted_race_thread, NULL, "planted");
	msleep(PLANTED_RACE_MS);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
	return 0;
}

static const struct {
	const char	*name;
	int		(*make)(void);
} planted_bugs[] = {
	{ "kasan", planted_kasan },
	{ "ubsan", planted_ubsan },
	{ "rcu", planted_rcu },
	{ "sleep", planted_sleep },
	{ "leak", planted_leak },
	{ "lock", planted_lock },
	{ "race", planted_race },
};

static int __init planted_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(planted_bugs); i++)
		if (!strcmp(bug, planted_bugs[i].name))
			return planted_bugs[i].make();
	return -EINVAL;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Bugs made on purpose, to test the checkers");
MODULE_LICENSE("GPL");
