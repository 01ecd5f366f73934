// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

#define SELF	"/proc/self/exe"

int library_find(const char *name, char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink(SELF, self, sizeof(self) - 1);
	char *slash;
	int error;

	if (n < 0) {
		strcpy(path, SELF);
		return -errno;
	}
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash + 1 - self + strlen(name) >= sizeof(self)) {
		strcpy(path, self);
		return -ENAMETOOLONG;
	}
	strcpy(slash + 1, name);
	if (realpath(self, path))
		return 0;
	error = errno;
	strcpy(path, self);
	return -error;
}

bool library_can_preload(const char *path)
{
	return !strpbrk(path, " :$");
}
