// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The parts of the interface that the kernel has and this process may use. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sfjit/device.h>
#include <sfjit/sframe.h>

#include "doctor.h"
#include "util.h"

#define WALK_US		250	/* by default */
#define FEW_WINDOWS	1024	/* a Java VM with default flags has 961 */

struct answers {
	long flags, formats, limit;
	long registering, removing;	/* without arguments */
};

static const struct doctor_advice old_kernel = {
	DOCTOR_BROKEN, "code without frame pointers truncates stacks",
	"boot a kernel with the patches and UNWIND_USER_SFRAME=y",
}, older = {
	DOCTOR_BROKEN, "programs started here get no windows",
	"boot a kernel with the patches of this version",
}, filter = {
	DOCTOR_BROKEN, "programs started here get no windows",
	"let prctl(0x53464a31 to 0x53464a33, ...) pass",
}, hurried = {
	DOCTOR_LIMITED, "long walks are truncated (reason: deadline)",
	"sysctl kernel.sframe_walk_us=250",
}, no_windows = {
	DOCTOR_BROKEN, "no process can have windows",
	"sysctl vm.max_sframe_windows=65536",
}, few_windows = {
	DOCTOR_LIMITED, "code without a window truncates stacks",
	"sysctl vm.max_sframe_windows=65536",
};

static int ask_open_node(int fd, int option, unsigned long what)
{
	struct sfjit_request request = { .key = what };

	if (option == PR_SFRAME_QUERY)
		return ioctl(fd, SFJIT_IOC_QUERY, what);
	return ioctl(fd, option == PR_SFRAME_REGISTER ? SFJIT_IOC_REGISTER :
		     SFJIT_IOC_UNREGISTER, &request);
}

static long ask_node(int option, unsigned long what)
{
	int fd = open(SFJIT_DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return -EINVAL;
	ret = ask_open_node(fd, option, what);
	ret = ret < 0 ? -errno : ret;
	close(fd);
	return ret == -ENOTTY ? -EINVAL : ret;
}

/* Like libsfjit. */
static long ask_kernel(int option, unsigned long what)
{
	int ret = prctl(option, what, 0, 0, 0);

	if (ret < 0 && errno == EINVAL)
		return ask_node(option, what);
	return ret < 0 ? -errno : ret;
}

static void ask(void *trial)
{
	struct answers *answers = trial;

	answers->flags = ask_kernel(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FLAGS);
	answers->formats = ask_kernel(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FORMATS);
	answers->limit = ask_kernel(PR_SFRAME_QUERY, PR_SFRAME_QUERY_LIMIT);
	answers->registering = ask_kernel(PR_SFRAME_REGISTER, 0);
	answers->removing = ask_kernel(PR_SFRAME_UNREGISTER, 0);
}

/* What a kernel without windows says, and one with them to bad arguments. */
static bool is_of_kernel(long ret)
{
	return ret >= 0 || ret == -EINVAL || ret == -ENOENT;
}

static long refusal(const struct answers *answers)
{
	if (!is_of_kernel(answers->flags))
		return answers->flags;
	if (!is_of_kernel(answers->registering))
		return answers->registering;
	return is_of_kernel(answers->removing) ? 0 : answers->removing;
}

static void check_filter(struct doctor *doctor, const struct answers *answers,
			 int signal)
{
	long error = refusal(answers);

	if (signal)
		doctor_say(doctor, "seccomp", &filter, "a seccomp filter kills "
			   "programs with windows: %s",
			   strsignal(signal));
	else if (error)
		doctor_say(doctor, "seccomp", &filter, "a seccomp filter "
			   "refuses windows: %s", strerror(-error));
	else
		doctor_say(doctor, "seccomp", NULL,
			   "no seccomp filter refuses windows");
	if (signal || error)
		doctor->no_windows = "seccomp";
}

static void check_tables(struct doctor *doctor, long formats)
{
	if (formats > 0 && formats >> SFRAME_FORMAT_PACKED & 1) {
		doctor_say(doctor, "tables", NULL,
			   "the kernel reads packed tables");
		return;
	}
	doctor_say(doctor, "tables", doctor_stock_old() ?: &older,
		   "the kernel reads no packed tables: it is older than sfjit");
	doctor->no_windows = "tables";
}

static void check_deadline(struct doctor *doctor)
{
	long us = doctor_number("/proc/sys/kernel/sframe_walk_us", -1);

	if (us < 0)
		return;
	doctor_say(doctor, "deadline", us >= WALK_US ? NULL : &hurried,
		   "kernel.sframe_walk_us is %ld", us);
}

static void check_limit(struct doctor *doctor, long limit)
{
	doctor_say(doctor, "limit", limit >= FEW_WINDOWS ? NULL :
		   limit ? &few_windows : &no_windows,
		   "vm.max_sframe_windows is %ld", limit);
	if (!limit)
		doctor->no_windows = "limit";
}

/* A filter may hide the answer, but not the file. */
static bool has_windows(const struct answers *answers)
{
	return answers->flags >= 0 || !access("/proc/self/sframe", F_OK);
}

void doctor_check_kernel(struct doctor *doctor)
{
	struct answers answers = { .flags = -EINVAL };
	int signal = child_try(ask, &answers, sizeof(answers));
	bool has = has_windows(&answers);
	const struct doctor_advice *advice = NULL;
	struct utsname name;

	uname(&name);
	if (!has)
		advice = doctor_stock_kernel(&name) ?: &old_kernel;
	doctor_say(doctor, "kernel", advice, "Linux %s knows %sSFrame windows",
		   name.release, has ? "" : "no ");
	if (signal || !doctor_stock_refuses(doctor, answers.registering))
		check_filter(doctor, &answers, signal);
	if (!has)
		doctor->no_windows = "kernel";
	if (answers.flags < 0)
		return;
	check_tables(doctor, answers.formats);
	check_deadline(doctor);
	check_limit(doctor, answers.limit);
}
