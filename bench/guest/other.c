// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sfjit/sframe.h>

#include "event.h"
#include "measure.h"
#include "other.h"
#include "stack.h"
#include "trigger.h"
#include "window.h"

#define DEPTH	4

static int channel = -1;

static void walk_on_request(int fd)
{
	struct windows windows;
	struct stack stack = {};
	struct event event;
	char byte;

	trigger_window_register();
	windows_map(&windows, 1, 0);
	window_register(&windows, 0);
	stack_init(&stack);
	while (stack.depth < DEPTH)
		stack_add_saved(&stack, window_key(&windows, 0) + WINDOW_ARG_RA,
				0, SLOT_CFA, SLOT_ARG_RA, 0);
	stack_end(&stack, (uintptr_t)bench_trigger_insn);
	event_open(&event, EVENT_AT_ONCE, 0);
	while (read(fd, &byte, 1) == 1) {
		stack_trigger(&stack);
		if (write(fd, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

void other_start(void)
{
	int fds[2];

	if (prctl(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FLAGS, 0, 0, 0) < 0)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		die("no sockets: %m");
	switch (fork()) {
	case -1:
		die("fork: %m");
	case 0:
		close(fds[0]);
		walk_on_request(fds[1]);
	}
	close(fds[1]);
	channel = fds[0];
}

void other_walk(void)
{
	char byte = 0;

	if (channel < 0)
		return;
	if (write(channel, &byte, 1) != 1 || read(channel, &byte, 1) != 1)
		die("the other process is gone");
}
