// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../preload/make_table.h"
#include "library.h"
#include "module.h"

void *module_function(const char *name, char path[PATH_MAX])
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
