// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: the .debug_frame of a module is read from its file, and from no
 * other file that has its name by now (built with AddressSanitizer).
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/tap.h"
#include "cfi.h"

#define PLUGIN	"programs/plugin-debug.so"

/* The module frees its arena; here malloc() leaks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static int is_plugin(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(struct dl_phdr_info *)arg = *info;
	return !!strstr(info->dlpi_name, PLUGIN);
}

static uintptr_t function;

static bool reads(struct dl_phdr_info *info, const char *name,
		  struct sfg_image *cfi)
{
	info->dlpi_name = name;
	return cfi_read_module(info, function, cfi);
}

static bool has_function(const struct dl_phdr_info *info,
			 const struct sfg_image *cfi)
{
	const struct sfg_input in = {
		.abi = SFG_HOST_ABI, .cfi = *cfi,
		.flags = SFG_INPUT_DEBUG_FRAME,
	};
	uint64_t addr = function - info->dlpi_addr;
	struct sfg_image *list;
	bool found = false;
	size_t nr, i;

	if (sfg_list_functions(&in, &list, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++)
		found |= list[i].addr == addr;
	free(list);
	return found;
}

static void load(struct dl_phdr_info *info, char *path)
{
	void *handle;

	strcpy(strrchr(path, '/') + 1, PLUGIN);
	handle = dlopen(path, RTLD_NOW);
	MUST(handle && dl_iterate_phdr(is_plugin, info));
	function = (uintptr_t)dlsym(handle, "plugin_number");
}

int main(void)
{
	char path[PATH_MAX] = "", command[2 * PATH_MAX];
	char dir[] = "/tmp/debug-frame-XXXXXX";
	struct sfg_image cfi = { .data = NULL };
	struct dl_phdr_info info;

	MUST(readlink("/proc/self/exe", path, sizeof(path) - 64) > 0);
	load(&info, path);
	MUST(mkdtemp(dir) && !chdir(dir));
	snprintf(command, sizeof(command), "cp '%s' copy", path);
	MUST(!system(command) && !mkfifo("fifo", 0600));
	if (reads(&info, path, &cfi))
		IS("a library", has_function(&info, &cfi), true);
	else
		skip("a library", "the kernel does not say which file is mapped");
	IS("a copy", reads(&info, "copy", &cfi), false);
	IS("the program in its place", reads(&info, "", &cfi), false);
	IS("no file", reads(&info, "none", &cfi), false);
	IS("a FIFO", reads(&info, "fifo", &cfi), false);
	IS("a directory", reads(&info, ".", &cfi), false);
	MUST(!unlink("copy") && !unlink("fifo") && !rmdir(dir));
	return finish();
}
