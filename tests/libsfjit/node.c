// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the library registers by /dev/sfjit if prctl() knows no windows,
 * asks for a missing node once, and keeps no file open.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/syscall.h>

#include <sfjit/device.h>

#include "prctl.h"

#define NODE_FD		12345

/* So the library does not know more after its constructor than before. */
static int open_error = EMFILE;
static int ioctl_error;
static int nr_opened, nr_open, open_flags;
static struct sfjit_request last;
static unsigned long last_call;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static long fake_open(int flags)
{
	nr_opened++;
	open_flags = flags;
	if (open_error)
		return fail(open_error);
	nr_open++;
	return NODE_FD;
}

static long fake_ioctl(unsigned long number, unsigned long arg)
{
	last_call = number;
	if (ioctl_error)
		return fail(ioctl_error);
	if (number == SFJIT_IOC_QUERY)
		return arg == PR_SFRAME_QUERY_LIMIT ? 4 : 3;
	memcpy(&last, (void *)arg, sizeof(last));
	return 0;
}

long __wrap_syscall(long number, ...)
{
	unsigned long arg[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (number == SYS_openat && !strcmp((char *)arg[1], SFJIT_DEVICE))
		return fake_open(arg[2]);
	if (number == SYS_ioctl && (int)arg[0] == NODE_FD)
		return fake_ioctl(arg[1], arg[2]);
	if (number == SYS_close && (int)arg[0] == NODE_FD)
		return nr_open--, 0;
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4],
			      arg[5]);
}

static unsigned char section[64], text[64];

static int add(void)
{
	return sfjit_register(7, section, 58, text, 32);
}

static int child_of_absent(void)
{
	IS("a child registers", add(), 0);
	IS("a child does not ask again", nr_opened, 1);
	return finish();
}

static int absent(void)
{
	nr_opened = 0;
	IS("register", add(), 0);
	IS("replace", sfjit_replace(7, section, 58, text, 32), 0);
	IS("unregister", sfjit_unregister(7), 0);
	IS("not available", sfjit_available(SFJIT_QUERY_KERNEL), 0);
	IS("the node was asked for once", nr_opened, 1);
	IS("a child", in_child(child_of_absent), 0);
	open_error = 0;
	present = true;
	IS("register by prctl()", add(), 0);
	IS("one window by prctl()", nr_windows, 1);
	return finish();
}

static int missing(void)
{
	open_error = ENOENT;
	return absent();
}

static int not_readable(void)
{
	open_error = EACCES;
	return absent();
}

/* A program may have put anything there. */
static int another(void)
{
	open_error = 0;
	ioctl_error = ENOTTY;
	return absent();
}

static void test_request(const char *what, unsigned long number)
{
	IS(what, last_call, (long)number);
	IS("its key", last.key, 7);
	IS("its section", last.address, number == SFJIT_IOC_REGISTER ?
	   (long)section : 0);
	IS("its length", last.length, number == SFJIT_IOC_REGISTER ? 58 : 0);
	IS("for this process", last.flags | last.pidfd, 0);
	IS("the node is closed", nr_open, 0);
}

static int there(void)
{
	open_error = 0;
	IS("register", add(), 0);
	test_request("registered", SFJIT_IOC_REGISTER);
	IS("opened so that programs do not notice", open_flags,
	   O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	IS("unregister", sfjit_unregister(7), 0);
	test_request("unregistered", SFJIT_IOC_UNREGISTER);
	IS("available", sfjit_available(SFJIT_QUERY_KERNEL), 1);
	IS("flags", sfjit_available(SFJIT_QUERY_FLAGS), 3);
	IS("limit", sfjit_available(SFJIT_QUERY_LIMIT), 4);
	ioctl_error = EPERM;
	IS("a user who may not", add(), -EPERM);
	ioctl_error = EEXIST;
	IS("an error of the kernel", add(), -EEXIST);
	IS("the node is closed", nr_open, 0);
	return finish();
}

/* The windows stay, and sections with them. */
static int lost(void)
{
	open_error = 0;
	IS("register", add(), 0);
	open_error = ENOENT;
	IS("unregister without the node", sfjit_unregister(7), -EPERM);
	IS("register without it", add(), -EPERM);
	IS("not available", sfjit_available(SFJIT_QUERY_KERNEL), 0);
	open_error = EMFILE;
	IS("unregister without descriptors", sfjit_unregister(7), -EMFILE);
	open_error = 0;
	IS("unregister later", sfjit_unregister(7), 0);
	return finish();
}

/* A shortage says nothing of the node. */
static int without_descriptors(void)
{
	open_error = ENFILE;
	IS("register without descriptors", add(), 0);
	open_error = 0;
	IS("register later", add(), 0);
	IS("registered", last_call, (long)SFJIT_IOC_REGISTER);
	return finish();
}

static int by_prctl(void)
{
	open_error = 0;
	nr_opened = 0;
	present = true;
	IS("register", add(), 0);
	next_error = EEXIST;
	IS("an error of prctl()", add(), -EEXIST);
	IS("unregister", sfjit_unregister(7), 0);
	present = false;
	absent_error = EPERM;
	IS("register under a filter", add(), 0);
	IS("the node was not asked for", nr_opened, 0);
	return finish();
}

int main(void)
{
	IS("a constructor asks for the node", nr_opened, 1);
	IS("no node", in_child(missing), 0);
	IS("a node that may not be read", in_child(not_readable), 0);
	IS("another file", in_child(another), 0);
	IS("a node", in_child(there), 0);
	IS("a node that is lost", in_child(lost), 0);
	IS("no descriptors", in_child(without_descriptors), 0);
	IS("a kernel with prctl()", in_child(by_prctl), 0);
	return finish();
}
