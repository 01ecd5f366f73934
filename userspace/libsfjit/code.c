// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows that own their table, which is in the heap: a table is small, and its
 * memory was written to.
 */
#include <errno.h>
#include <stdlib.h>

#include "code.h"

struct sfjit_code {
	size_t				nr;
	struct sfjit_code_window	windows[];
};

static void free_sections(const struct sfjit_code *code)
{
	size_t i;

	for (i = 0; i < code->nr; i++)
		free(code->windows[i].section);
}

static int unregister_first(const struct sfjit_code *code, size_t nr)
{
	int ret = 0, error;

	while (nr--) {
		error = sfjit_unregister((uintptr_t)code->windows[nr].text);
		if (error)
			ret = error;
	}
	return ret;
}

/* Registers all windows or none. */
static int register_all(const struct sfjit_code *code)
{
	const struct sfjit_code_window *window;
	size_t i;
	int ret;

	for (i = 0; i < code->nr; i++) {
		window = &code->windows[i];
		ret = sfjit_register((uintptr_t)window->text, window->section,
				     window->length, window->text,
				     window->text_length);
		if (ret) {
			unregister_first(code, i);
			return ret;
		}
	}
	return 0;
}

static int init_code(void *object, const void *how)
{
	const struct sfjit_code_request *request = how;
	struct sfjit_code *code = object;
	int ret = 0;

	while (code->nr < request->nr && !ret) {
		ret = request->fill(&code->windows[code->nr], code->nr,
				    request->from);
		code->nr++;
	}
	if (!ret)
		ret = register_all(code);
	if (ret)
		free_sections(code);
	return ret;
}

int sfjit_code_create(const struct sfjit_code_request *request,
		      struct sfjit_code **result)
{
	return sfjit_create(sizeof(**result) +
			    request->nr * sizeof((*result)->windows[0]),
			    init_code, request, result);
}

/* ---- Windows of functions --------------------------------------------- */

struct functions {
	const struct sfjit_function	*first;
	size_t				nr;
};

static int fill_window(struct sfjit_code_window *window, size_t i,
		       const void *from)
{
	const struct functions *functions = from;
	const struct sfjit_function *first = functions->first;
	const struct sfjit_function *last = &first[functions->nr - 1];
	long size = sfjit_section_size(first, functions->nr);

	if (size < 0)
		return size;
	window->section = malloc(size);
	if (!window->section)
		return -ENOMEM;
	window->length = size;
	window->text = (const void *)(uintptr_t)first->addr;
	window->text_length = last->addr + last->size - first->addr;
	sfjit_section_fill(window->section, size, first, functions->nr);
	return 0;
}

int sfjit_register_functions(const struct sfjit_function *functions, size_t nr,
			     struct sfjit_code **result)
{
	const struct functions from = { functions, nr };

	if (!functions || !nr || !result)
		return -EINVAL;
	return sfjit_code_create(&(struct sfjit_code_request){
		.fill = fill_window, .from = &from, .nr = 1,
	}, result);
}

/* ---- The end ---------------------------------------------------------- */

int sfjit_code_retire(struct sfjit_code *code)
{
	int ret;

	if (!code)
		return 0;
	sfjit_lock();
	ret = unregister_first(code, code->nr);
	free_sections(code);
	free(code);
	sfjit_unlock();
	return ret;
}
