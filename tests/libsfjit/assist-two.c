// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: two copies of the library that enable assists, one shared, one
 * in a plugin: each answers once, and dlclose() keeps the plugin loaded once it
 * has a handler.
 *
 * usage: assist-two PLUGIN
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "assist.h"
#include "assist-two.h"

#define TEXT	0x10000UL

static const char *plugin_path;

static void *open_plugin(const struct copy **copy)
{
	void *handle = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	MUST(handle);
	*copy = dlsym(handle, "plugin_copy");
	MUST(*copy);
	return handle;
}

static bool is_loaded(void)
{
	return dlopen(plugin_path, RTLD_NOW | RTLD_NOLOAD);
}

static int insert_name(const struct sfjit_assist_stack *stack, void *data)
{
	const struct copy *copy = data;

	return copy->insert(stack, 0, copy->name(1, 1, write_name, "xyz"));
}

static void answer_by(const struct copy *copy, const char *name)
{
	IS(name, copy->enable(0), 0);
	IS(name, copy->add((void *)TEXT, 16, insert_name, (void *)copy), 0);
	ask((const uint64_t[]){ TEXT, 0x9000 }, 2);
	IS(name, kernel.nr_answer, 3);
	TRUE(name, kernel.answer[1] ==
	     copy->name(1, 1, write_name, "another"));
	TRUE(name, strstr(read_map(getpid()), " 10 xyz\n"));
}

static const struct copy own = COPY;

static int test_own_first(void)
{
	const struct copy *plugin;
	void *handle = open_plugin(&plugin);
	int signal;

	TRUE("two copies", plugin->enable != own.enable);
	answer_by(&own, "the shared library");
	signal = kernel.signal;
	IS("the plugin is refused", plugin->enable(0), -EBUSY);
	IS("the signal stays", kernel.signal, signal);
	ask((const uint64_t[]){ TEXT, 0x9000 }, 2);
	IS("and the answer", kernel.nr_answer, 3);
	IS("disable", own.disable(), 0);
	answer_by(plugin, "the plugin then");
	IS("by another signal", kernel.signal, signal - 1);
	MUST(!dlclose(handle));
	return finish();
}

static int test_plugin_first(void)
{
	const struct copy *plugin;
	void *handle = open_plugin(&plugin);

	answer_by(plugin, "the plugin");
	IS("the shared library is refused", own.enable(0), -EBUSY);
	MUST(!dlclose(handle));
	TRUE("a plugin with a handler stays", is_loaded());
	ask((const uint64_t[]){ TEXT, 0x9000 }, 2);
	IS("and answers", kernel.nr_answer, 3);
	return finish();
}

static int test_close(void)
{
	const struct copy *plugin;
	void *handle = open_plugin(&plugin);

	TRUE("a name", plugin->name(1, 1, write_name, "xyz"));
	MUST(!dlclose(handle));
	TRUE("a plugin without a handler goes", !is_loaded());
	return finish();
}

int main(int argc, char **argv)
{
	MUST(argc == 2);
	plugin_path = argv[1];
	IS("the shared library first", in_child(test_own_first), 0);
	IS("the plugin first", in_child(test_plugin_first), 0);
	IS("a plugin that is not asked", in_child(test_close), 0);
	return finish();
}
