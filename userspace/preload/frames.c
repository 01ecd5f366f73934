// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The functions of libgcc and of LLVM's libunwind to which JITs pass call frame
 * information, so that exceptions can pass their code. Each calls the function
 * that the program would have called without us.
 *
 * Never define __unw_*: programs take their presence for LLVM's libunwind, and
 * then register other things.
 */
#include <stddef.h>

#include "jit.h"
#include "libc.h"

#define EXPORT	__attribute__((visibility("default")))

/* RTLD_NEXT does not find libraries that dlopen() loaded with RTLD_LOCAL. */
static libc_function in_library(const char *library, const char *name)
{
	libc_function function = NULL;
	void *handle = NULL;

	if (libc.open && libc.symbol && libc.close)
		handle = libc.open(library, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		function = (libc_function)libc.symbol(handle, name);
		libc.close(handle);
	}
	return function;
}

/* NULL: neither library is loaded, and the program would have met no name. */
static libc_function find_next(const char *name)
{
	libc_function function = libc_next(name);

	if (!function)
		function = in_library("libgcc_s.so.1", name);
	if (!function)
		function = in_library("libunwind.so.1", name);
	return function;
}

#define ORIGINAL(result, ...) ({					\
	static result (*original)(__VA_ARGS__);				\
	result (*function)(__VA_ARGS__);				\
									\
	function = __atomic_load_n(&original, __ATOMIC_RELAXED);	\
	if (!function) {						\
		function = (result (*)(__VA_ARGS__))find_next(__func__); \
		__atomic_store_n(&original, function, __ATOMIC_RELAXED); \
	}								\
	function;							\
})

/*
 * libgcc's functions call each other by names that are ours, too; such a call
 * is a part of one that was seen already.
 */
static __thread unsigned int inside __attribute__((tls_model("initial-exec")));

#define CALL(function, ...) do {					\
	inside++;							\
	function(__VA_ARGS__);					\
	inside--;							\
} while (0)

EXPORT void __register_frame(void *begin);
EXPORT void __register_frame_info(const void *begin, void *object);
EXPORT void __register_frame_info_bases(const void *begin, void *object,
					void *text, void *data);
EXPORT void __register_frame_table(void *table);
EXPORT void __register_frame_info_table(void *table, void *object);
EXPORT void __register_frame_info_table_bases(void *table, void *object,
					      void *text, void *data);
EXPORT void __deregister_frame(void *begin);
EXPORT void *__deregister_frame_info(const void *begin);
EXPORT void *__deregister_frame_info_bases(const void *begin);

void __register_frame(void *begin)
{
	void (*original)(void *) = ORIGINAL(void, void *);

	if (original)
		CALL(original, begin);
	if (!inside)
		jit_frames(begin, NULL);
}

void __register_frame_info(const void *begin, void *object)
{
	void (*original)(const void *, void *) =
		ORIGINAL(void, const void *, void *);

	if (original)
		CALL(original, begin, object);
	if (!inside)
		jit_frames(begin, NULL);
}

void __register_frame_info_bases(const void *begin, void *object, void *text,
				 void *data)
{
	void (*original)(const void *, void *, void *, void *) =
		ORIGINAL(void, const void *, void *, void *, void *);

	if (original)
		CALL(original, begin, object, text, data);
	if (!inside)
		jit_frames(begin, &(struct jit_bases) { text, data });
}

void __register_frame_table(void *table)
{
	void (*original)(void *) = ORIGINAL(void, void *);

	if (original)
		CALL(original, table);
	if (!inside)
		jit_frame_table(table, NULL);
}

void __register_frame_info_table(void *table, void *object)
{
	void (*original)(void *, void *) = ORIGINAL(void, void *, void *);

	if (original)
		CALL(original, table, object);
	if (!inside)
		jit_frame_table(table, NULL);
}

void __register_frame_info_table_bases(void *table, void *object, void *text,
				       void *data)
{
	void (*original)(void *, void *, void *, void *) =
		ORIGINAL(void, void *, void *, void *, void *);

	if (original)
		CALL(original, table, object, text, data);
	if (!inside)
		jit_frame_table(table, &(struct jit_bases) { text, data });
}

/*
 * Remove our windows first: once the original returns, the program may free the
 * memory.
 */
void __deregister_frame(void *begin)
{
	void (*original)(void *) = ORIGINAL(void, void *);

	if (!inside)
		jit_frames_gone(begin);
	if (original)
		CALL(original, begin);
}

static void *deregister_info(void *(*original)(const void *),
			     const void *begin)
{
	void *object = NULL;

	if (!inside)
		jit_frames_gone(begin);
	if (original)
		CALL(object = original, begin);
	return object;
}

void *__deregister_frame_info(const void *begin)
{
	return deregister_info(ORIGINAL(void *, const void *), begin);
}

void *__deregister_frame_info_bases(const void *begin)
{
	return deregister_info(ORIGINAL(void *, const void *), begin);
}
