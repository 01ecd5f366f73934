// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The module sfjit, by which Debian's own kernels have windows. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sfjit/device.h>

#include "doctor.h"

#define LOADED		"/sys/module/sfjit"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define WITHOUT		"code without frame pointers truncates stacks"

static const struct doctor_advice not_loaded = {
	DOCTOR_BROKEN, WITHOUT, "modprobe sfjit",
}, locked = {
	DOCTOR_BROKEN, WITHOUT,
	"sign sfjit.ko (mokutil --import KEY), modprobe sfjit",
}, other_version = {
	DOCTOR_BROKEN, WITHOUT, "rmmod sfjit; load the module of this version",
}, no_node = {
	DOCTOR_BROKEN, "there is no " SFJIT_DEVICE,
	"mount devtmpfs on /dev; give a container the device " SFJIT_DEVICE,
}, not_readable = {
	DOCTOR_BROKEN, "this user may not read " SFJIT_DEVICE,
	"chmod a+r " SFJIT_DEVICE,
}, not_permitted = {
	DOCTOR_BROKEN, "programs started here get no windows",
	"chmod a+rw " SFJIT_DEVICE ", which lets everybody have windows",
};

static bool find_line(const char *file, const char *text)
{
	FILE *f = fopen(file, "re");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	while (f && !found && getline(&line, &size, f) > 0)
		found = strstr(line, text);
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* The fix names the kernel. */
static const struct doctor_advice *no_module(const char *release)
{
	static struct doctor_advice advice;

	advice = not_loaded;
	advice.remedy = doctor_text("install sfjit-dkms and linux-headers-%s",
				 release);
	return &advice;
}

/* The fix names the group that may have windows, if one may. */
static const struct doctor_advice *not_member(void)
{
	static struct doctor_advice advice;
	struct group *group;
	struct stat st;

	if (stat(SFJIT_DEVICE, &st) || !st.st_gid || !(st.st_mode & S_IWGRP))
		return &not_permitted;
	group = getgrgid(st.st_gid);
	if (!group)
		return &not_permitted;
	advice = not_permitted;
	advice.remedy = doctor_text("adduser USER %s, and log in again",
				 group->gr_name);
	return &advice;
}

static bool is_installed(const char *release)
{
	return find_line(doctor_text("/lib/modules/%s/modules.dep", release),
			 "/sfjit.ko");
}

/* With Secure Boot the kernel is locked down, and wants signatures. */
static bool is_locked_down(void)
{
	return find_line(LOCKDOWN, "[integrity]") ||
	       find_line(LOCKDOWN, "[confidentiality]");
}

static bool is_for(const struct utsname *kernel)
{
	return !strcmp(kernel->machine, "x86_64") &&
	       (!strncmp(kernel->release, "6.1.", 4) ||
		!strncmp(kernel->release, "6.12.", 5));
}

/* The module is loaded, and knows no windows. */
static const struct doctor_advice *without_answer(void)
{
	if (!access(SFJIT_DEVICE, R_OK))
		return &other_version;
	return errno == EACCES ? &not_readable : &no_node;
}

const struct doctor_advice *doctor_stock_kernel(const struct utsname *kernel)
{
	if (!access(LOADED, F_OK))
		return without_answer();
	if (!is_for(kernel))
		return NULL;
	if (!is_installed(kernel->release))
		return no_module(kernel->release);
	return is_locked_down() ? &locked : &not_loaded;
}

const struct doctor_advice *doctor_stock_old(void)
{
	return access(LOADED, F_OK) ? NULL : &other_version;
}

bool doctor_stock_refuses(struct doctor *doctor, long registering)
{
	if (registering != -EPERM || access(LOADED, F_OK) ||
	    !access(SFJIT_DEVICE, W_OK))
		return false;
	doctor_say(doctor, "allowed", not_member(),
		   "the module sfjit lets this user have no windows");
	doctor->no_windows = "allowed";
	return true;
}
