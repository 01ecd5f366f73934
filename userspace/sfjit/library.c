// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../preload/make_table.h"
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

void *library_function(const char *name, char path[PATH_MAX])
{
	int ret = library_find(LIBRARY_PRELOAD, path);
	void *module = NULL, *function = NULL;

	setenv(FILL_ONLY, "1", 1);
	if (!ret)
		module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unsetenv(FILL_ONLY);
	if (module)
		function = dlsym(module, name);
	if (!function)
		fprintf(stderr, "sfjit: %s: %s\n", path, ret ?
			strerror(-ret) : "is not the module of this version");
	return function;
}
