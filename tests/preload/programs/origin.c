// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A library that loads another by its own RUNPATH: dlopen() must see this
 * library as the caller.
 */
#include <dlfcn.h>
#include <stdio.h>

int plugin_number(void);
int plugin_number(void)
{
	void *handle = dlopen("libhidden.so", RTLD_NOW);
	int (*number)(void);

	if (!handle) {
		puts(dlerror());
		return -1;
	}
	number = (int (*)(void))dlsym(handle, "plugin_number");
	return number ? number() : -2;
}
