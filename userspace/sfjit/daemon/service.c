// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service.h"

#define FIRST_FD	3

/* Names are separated by colons, in the order of the descriptors. */
static int find_name(const char *names, const char *name, int nr)
{
	size_t length = strlen(name);
	int i;

	for (i = 0; i < nr && names; i++) {
		if (!strncmp(names, name, length) &&
		    (names[length] == ':' || !names[length]))
			return FIRST_FD + i;
		names = strchr(names, ':');
		names += !!names;
	}
	return -1;
}

int service_take(const char *name)
{
	const char *pid = getenv("LISTEN_PID"), *nr = getenv("LISTEN_FDS");
	int fd;

	if (!pid || !nr || atoi(pid) != getpid())
		return -1;
	fd = find_name(getenv("LISTEN_FDNAMES"), name, atoi(nr));
	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -1;
	return fd;
}

/* A name that begins with @ is in the abstract namespace. */
static socklen_t find_manager(struct sockaddr_un *address)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;

	if (length < 2 || length >= sizeof(address->sun_path))
		return 0;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, path, length);
	if (*path == '@')
		address->sun_path[0] = '\0';
	return offsetof(struct sockaddr_un, sun_path) + length;
}

static void add_fd(struct msghdr *message, int fd)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
}

/* Without a manager there is nothing to say. */
static void notify(const char *text, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fd))] = "";
	struct sockaddr_un address;
	struct iovec data = { (char *)text, strlen(text) };
	struct msghdr message = {
		.msg_name = &address, .msg_namelen = find_manager(&address),
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = fd < 0 ? NULL : control,
		.msg_controllen = fd < 0 ? 0 : sizeof(control),
	};
	int to;

	if (!message.msg_namelen)
		return;
	if (fd >= 0)
		add_fd(&message, fd);
	to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (to < 0 || sendmsg(to, &message, MSG_NOSIGNAL) < 0)
		perror("sfjit daemon: $NOTIFY_SOCKET");
	if (to >= 0)
		close(to);
}

void service_keep(const char *name, int fd)
{
	char text[64];

	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	notify(text, fd);
}

void service_is_ready(void)
{
	notify("READY=1", -1);
}
