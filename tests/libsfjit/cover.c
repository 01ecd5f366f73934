// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: cover PLUGIN
 *
 * Description: a program covers itself: each of its files, files loaded later,
 * and a second call without effect. On a kernel with windows the windows exist;
 * elsewhere the module's report lists them.
 */
#include <dlfcn.h>
#include <sys/auxv.h>

#include <sfjit/code.h>

#include "test.h"

static char log_name[] = "/tmp/lib-cover-XXXXXX";

/* Whether a line of the report has both. */
static bool reported(const char *what, const char *name)
{
	char line[4096];
	bool found = false;
	FILE *file = fopen(log_name, "r");

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, what) && strstr(line, name);
	if (file)
		fclose(file);
	return found;
}

static int nr_reported(void)
{
	char line[4096];
	int nr = 0;
	FILE *file = fopen(log_name, "r");

	while (file && fgets(line, sizeof(line), file))
		nr += strstr(line, " registered ") != NULL;
	if (file)
		fclose(file);
	return nr;
}

/* Whether a window of this process covers any of the bytes. */
static bool in_window(const void *address, size_t length)
{
	unsigned long start, end, at = (unsigned long)address;
	bool found = false;
	char line[512];
	FILE *file = fopen("/proc/self/sframe", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			found |= at + length > start && at < end;
	if (file)
		fclose(file);
	return found;
}

static void check_window(const char *name, const void *address, size_t length,
			 bool wanted)
{
	if (sfjit_available(SFJIT_QUERY_KERNEL) == 1)
		IS(name, in_window(address, length), wanted);
}

int main(int argc, char **argv)
{
	int before, fd = mkstemp(log_name);
	void *plugin;

	MUST(argc == 2 && fd >= 0);
	setenv("SFJIT_LOG", log_name, 1);
	check_window("no window yet", main, 1, false);
	IS("flags", sfjit_cover_modules(1), -EINVAL);
	IS("cover", sfjit_cover_modules(0), 0);
	TRUE("the program", reported(" registered ", "/libsfjit/cover"));
	TRUE("libc", reported(" registered ", "/libc.so.6"));
	TRUE("ld.so", reported(" registered ", "/ld-linux"));
	TRUE("the vDSO", reported(" registered ", "linux-vdso"));
	check_window("window of the program", main, 1, true);
	check_window("window of libc", dlsym(RTLD_DEFAULT, "qsort"), 1, true);
	check_window("window of the vDSO",
		     (void *)getauxval(AT_SYSINFO_EHDR), 0x2000, true);
	before = nr_reported();
	IS("again", sfjit_cover_modules(0), 0);
	IS("nothing twice", nr_reported(), before);
	plugin = dlopen(argv[1], RTLD_NOW);
	MUST(plugin);
	TRUE("what dlopen() brings", reported(" registered ", argv[1]));
	IS("one more", nr_reported(), before + 1);
	dlclose(plugin);
	IS("and after dlclose()", sfjit_cover_modules(0), 0);
	plugin = dlopen(argv[1], RTLD_NOW);
	MUST(plugin);
	check_window("window of what came again", dlsym(plugin, "plugin_number"), 1,
		     true);
	unlink(log_name);
	return finish();
}
