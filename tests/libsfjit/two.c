// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: two JITs in one process, one with the shared library, one a
 * plugin with the archive in it: their windows, names and forks, forks while
 * both change areas, and dlclose() of the plugin with windows and without.
 *
 * usage: two PLUGIN
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include <sfjit/check.h>

#include "prctl.h"
#include "two.h"

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)
#define SAME		SFJIT_NO_RULE
#define AREA		65536
#define SIZE		128
#define FUNCTIONS	(AREA / SIZE)
#define LONG_ROWS	100
#define NR_FORKS	100

static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SAME, SAME },
	{ 1, 0, SP(16), SAME, SAME },
};

static struct sfjit_row long_rows[LONG_ROWS];

static const struct jit own_jit = JIT;

/* A JIT, its area, and what it created. */
struct user {
	const struct jit	*jit;
	unsigned char		*text;
	struct sfjit_area	*area;
	struct sfjit_area	*second;
	struct sfjit_code	*code;
	struct sfjit_pool	*pool;
};

static struct user own = { .jit = &own_jit }, plugin;
static void *handle;
static const char *plugin_path;

static void open_plugin(void)
{
	handle = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	MUST(handle);
	plugin.jit = dlsym(handle, "plugin_jit");
	MUST(plugin.jit);
}

static struct sfjit_function nth(const struct user *user, unsigned int i)
{
	return (struct sfjit_function){
		(uintptr_t)user->text + i * SIZE, SIZE, 2, rows, 0, 0,
	};
}

/* A function of several entries, in the place of two. */
static struct sfjit_function nth_long(const struct user *user, unsigned int i)
{
	return (struct sfjit_function){
		(uintptr_t)user->text + i * SIZE, 2 * SIZE, LONG_ROWS,
		long_rows, 0, 0,
	};
}

static void map_text(struct user *user)
{
	user->text = mmap(NULL, 4 * AREA, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(user->text != MAP_FAILED);
}

/* Creates all kinds of windows. */
static void make_all(struct user *user, const char *name)
{
	struct sfjit_function f;
	int windows = nr_windows;
	void *entry;

	IS(name, user->jit->create(user->text, AREA, 0, 0, &user->area), 0);
	IS(name, user->jit->create(user->text + AREA, AREA, 0, 0,
				   &user->second), 0);
	f = nth(user, 2 * FUNCTIONS);
	IS(name, user->jit->register_functions(&f, 1, &user->code), 0);
	IS(name, user->jit->pool_create(SFJIT_TRAMP_SLOT, &user->pool), 0);
	IS(name, nr_windows - windows, 4);
	f = nth(user, 1);
	IS(name, user->jit->publish(user->area, &f), 0);
	f = nth(user, FUNCTIONS + 1);
	IS(name, user->jit->publish(user->second, &f), 0);
	IS(name, user->jit->tramp_get(user->pool, make_all, name, &entry), 0);
	TRUE(name, map_has(getpid(), entry, 16, name));
	IS(name, user->jit->name(user->text, SIZE, name), 0);
	TRUE(name, map_has(getpid(), user->text, SIZE, name));
}

static void retire_all(struct user *user, const char *name)
{
	int windows = nr_windows;

	IS(name, user->jit->retire(user->area), 0);
	IS(name, user->jit->retire(user->second), 0);
	IS(name, user->jit->code_retire(user->code), 0);
	IS(name, user->jit->pool_retire(user->pool), 0);
	IS(name, windows - nr_windows, 4);
}

static struct sfjit_table table_of(const struct user *user)
{
	struct sfjit_area_info info;

	MUST(!user->jit->stat(user->area, &info));
	return (struct sfjit_table){
		info.table, info.length, user->text, AREA, 0, 0,
	};
}

static bool is_good(const struct user *user, unsigned int functions)
{
	struct sfjit_table table = table_of(user);
	struct sfjit_area_info info;

	MUST(!user->jit->stat(user->area, &info));
	return !sfjit_check(&table, NULL) && info.functions == functions;
}

/* Also if a fork has interrupted another thread. */
static bool is_usable(const struct user *user)
{
	struct sfjit_table table = table_of(user);

	return !sfjit_check(&table, NULL);
}

/* ---- Forks ------------------------------------------------------------ */

static atomic_int stop;
static atomic_ulong nr_changes;

static unsigned int pass(const struct user *user, unsigned int first)
{
	struct sfjit_function f;
	unsigned int i, bad = 0;

	for (i = first; i < FUNCTIONS; i += 4) {
		f = i % 8 < 4 ? nth(user, i) : nth_long(user, i);
		bad += !!user->jit->publish(user->area, &f);
		nr_changes++;
	}
	for (i = first; i < FUNCTIONS; i += 8)
		bad += !!user->jit->withdraw(user->area,
					     user->text + i * SIZE);
	return bad;
}

/*
 * The second half of each pass is withdrawn by resets of ranges, and a reset of
 * everything frees what the changes took.
 */
static void *change(void *argument)
{
	const struct user *user = argument;
	unsigned long bad = 0, i;

	while (!stop) {
		bad += pass(user, 0);
		for (i = 4; i < FUNCTIONS; i += 8)
			bad += !!user->jit->reset(user->area, user->text +
						  i * SIZE, 2 * SIZE);
		bad += !!user->jit->reset(user->area, NULL, 0);
	}
	return (void *)bad;
}

/* Once as it is, and once after everything was withdrawn. */
static int use(const struct user *user)
{
	int failed = 0;

	failed |= !is_usable(user);
	failed |= !!user->jit->reset(user->area, NULL, 0) << 1;
	failed |= !is_good(user, 0) << 2;
	failed |= !!pass(user, 0) << 3;
	failed |= !is_good(user, FUNCTIONS / 8) << 4;
	failed |= !!user->jit->retire(user->area) << 5;
	return failed;
}

static int use_both(void)
{
	return use(&own) | use(&plugin);
}

static void test_forks(void)
{
	pthread_t threads[2];
	unsigned int i, status, bad = 0, last = 0;
	unsigned long before;
	void *errors;

	own.jit->reset(own.area, NULL, 0);
	plugin.jit->reset(plugin.area, NULL, 0);
	MUST(!pthread_create(&threads[0], NULL, change, &own));
	MUST(!pthread_create(&threads[1], NULL, change, &plugin));
	before = nr_changes;
	for (i = 0; i < NR_FORKS || nr_changes == before; i++) {
		status = in_child(use_both);
		bad += !!status;
		last = status ?: last;
	}
	result(!bad, "children of forks", "%u failed, the last with %u", bad,
	       last);
	TRUE("the parent goes on meanwhile", nr_changes > before);
	stop = 1;
	for (i = 0; i < 2; i++) {
		MUST(!pthread_join(threads[i], &errors));
		IS("the parent's changes", (long)errors, 0);
	}
	TRUE("own area is whole", is_good(&own, 0));
	TRUE("the plugin's is", is_good(&plugin, 0));
}

/* ---- The end of a plugin ----------------------------------------------- */

static int own_goes_on(void)
{
	return use(&own);
}

static void test_close(void)
{
	struct sfjit_table table;
	int windows;

	IS("publish in the plugin", pass(&plugin, 0), 0);
	table = table_of(&plugin);
	windows = nr_windows;
	IS("dlclose with windows", dlclose(handle), 0);
	TRUE("the plugin is not there any more",
	     !dlopen(plugin_path, RTLD_NOLOAD | RTLD_NOW));
	IS("its windows are", nr_windows, windows);
	IS("as the kernel wants them", sfjit_check(&table, NULL), 0);
	IS("fork without it", in_child(own_goes_on), 0);
	IS("own area", own.jit->reset(own.area, NULL, 0), 0);
	open_plugin();
	map_text(&plugin);
	make_all(&plugin, "plugin::again");
	retire_all(&plugin, "plugin, again: retire");
	IS("dlclose without windows", dlclose(handle), 0);
	IS("fork at the end", in_child(own_goes_on), 0);
}

int main(int argc, char **argv)
{
	uint32_t i;

	MUST(argc == 2);
	plugin_path = argv[1];
	present = true;
	for (i = 0; i < LONG_ROWS; i++)
		long_rows[i] = (struct sfjit_row){
			2 * i, 0, SP(8 + i % 2 * 8), SAME, SAME,
		};
	open_plugin();
	TRUE("two copies", plugin.jit->create != own_jit.create);
	map_text(&own);
	map_text(&plugin);
	make_all(&own, "own::one");
	make_all(&plugin, "plugin::one");
	TRUE("names of both are there", map_has(getpid(), own.text, SIZE,
						"own::one"));
	test_forks();
	test_close();
	retire_all(&own, "retire");
	unlink(map_path(getpid()));
	return finish();
}
