// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * What is known of code objects, by their address, so that a handler has not to
 * read them again. The interpreter says when one is made or gone.
 *
 * A handler adds what it has read; any thread may be in one, also while this one
 * is told that an object is gone. So a place belongs to whoever has made its key
 * BUSY, and who has read a place looks at its key once more.
 */
#include <errno.h>
#include <sys/mman.h>

#include "assist.h"

#define BUSY	((uintptr_t)1)

/* A power of two of sets; an object may be in any place of its set. */
#define SETS	4096
#define PLACES	8

struct place {
	uintptr_t key;		/* a code object, 0 or BUSY */
	struct assist_code code;
	uint64_t unused;	/* two places fill a cache line */
};

static struct place (*places)[PLACES];
static PyInterpreterState *watched;
static uint64_t watched_id;

/* ---- In a handler --------------------------------------------------------- */

static struct place *find_set(uintptr_t key)
{
	/* Objects are 16 bytes apart at least. */
	return places[(key >> 4 ^ key >> 16) % SETS];
}

static bool is_known(const struct place *place, uintptr_t key,
		     struct assist_code *code)
{
	if (__atomic_load_n(&place->key, __ATOMIC_ACQUIRE) != key)
		return false;
	*code = place->code;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&place->key, __ATOMIC_RELAXED) == key;
}

static bool find(uintptr_t key, struct assist_code *code)
{
	struct place *set = find_set(key);
	int i;

	for (i = 0; i < PLACES; i++)
		if (is_known(&set[i], key, code))
			return true;
	return false;
}

/* One of a full set gives way, by the address of the new one. */
static struct place *choose(struct place *set, uintptr_t key)
{
	int i;

	for (i = 0; i < PLACES; i++)
		if (!__atomic_load_n(&set[i].key, __ATOMIC_RELAXED))
			return &set[i];
	return &set[(key >> 8) % PLACES];
}

static void keep(uintptr_t key, const struct assist_code *code)
{
	struct place *place = choose(find_set(key), key);
	uintptr_t old = __atomic_load_n(&place->key, __ATOMIC_RELAXED);

	if (old == BUSY ||
	    !__atomic_compare_exchange_n(&place->key, &old, BUSY, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	place->code = *code;
	__atomic_store_n(&place->key, key, __ATOMIC_RELEASE);
}

/*
 * Below an __init__() that a call in the loop has begun is a frame of a code
 * object that is no function: it looks at what __init__() returns. It is the only
 * one that is not numbered while there are numbers.
 */
static bool is_glue(const PyCodeObject *code)
{
	return !code->co_version && code->co_qualname == code->co_filename &&
	       code->co_name == code->co_filename && !code->co_nlocalsplus;
}

/*
 * The reference count of memory that was freed is a pointer or 0: of an object
 * it is neither.
 */
static bool is_code(const PyCodeObject *code)
{
	return Py_TYPE((PyObject *)code) == &PyCode_Type &&
	       code->ob_base.ob_base.ob_refcnt > 0 &&
	       code->ob_base.ob_base.ob_refcnt <= UINT32_MAX &&
	       code->co_framesize > 0;
}

/* Addresses are used again, numbers are not, and each interpreter has its own. */
static int name(const PyObject *object, const PyCodeObject *code,
		struct assist_code *found)
{
	struct assist_names names = { code->co_qualname, code->co_filename };

	found->name = 0;
	found->frame_size = code->co_framesize * sizeof(PyObject *);
	if (is_glue(code))
		return 0;
	if (!code->co_version)
		return -ENOENT;
	found->name = sfjit_assist_name((uintptr_t)object,
					watched_id << 32 | code->co_version,
					assist_write_name, &names);
	return found->name ? 0 : -ENOENT;
}

static __attribute__((noinline)) int read_code(const PyObject *object,
					       struct assist_code *found)
{
	PyCodeObject code;
	int ret;

	ret = sfjit_assist_read(&code, object,
				offsetof(PyCodeObject, co_code_adaptive));
	if (ret)
		return ret;
	if (!is_code(&code))
		return -ENOENT;
	ret = name(object, &code, found);
	if (!ret)
		keep((uintptr_t)object, found);
	return ret;
}

int assist_find_code(const PyObject *object, struct assist_code *found)
{
	return find((uintptr_t)object, found) ? 0 : read_code(object, found);
}

bool assist_is_watched(const PyInterpreterState *interp)
{
	return interp == __atomic_load_n(&watched, __ATOMIC_ACQUIRE);
}

/* ---- Under the GIL -------------------------------------------------------- */

static void forget(uintptr_t key)
{
	struct place *set = find_set(key);
	uintptr_t old;
	int i;

	for (i = 0; i < PLACES; i++) {
		old = key;
		__atomic_compare_exchange_n(&set[i].key, &old, 0, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

/* An address is new, or gone. */
static int on_code(PyCodeEvent event, PyCodeObject *code)
{
	forget((uintptr_t)code);
	return 0;
}

/* The interpreter drops what it keeps before it stops telling. */
static void on_end(PyObject *note)
{
	assist_unwatch();
}

/* Where a watcher is one already it stays: it cannot be told by its number. */
static int add_watcher(PyInterpreterState *interp)
{
	PyObject *notes = PyInterpreterState_GetDict(interp), *note;
	int ret;

	if (!notes) {
		PyErr_NoMemory();
		return -1;
	}
	if (PyDict_GetItemString(notes, "sfjit.assist"))
		return 0;
	note = PyCapsule_New(&places, NULL, on_end);
	if (!note)
		return -1;
	ret = PyCode_AddWatcher(on_code);
	if (ret >= 0)
		ret = PyDict_SetItemString(notes, "sfjit.assist", note);
	Py_DECREF(note);
	return ret;
}

static int make_places(void)
{
	void *memory;

	if (places)
		return 0;
	memory = mmap(NULL, SETS * sizeof(*places), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		PyErr_NoMemory();
		return -1;
	}
	places = memory;
	return 0;
}

int assist_watch(PyInterpreterState *interp)
{
	if (watched == interp)
		return 0;
	if (watched) {
		PyErr_SetString(PyExc_RuntimeError,
				"another interpreter of the process is assisted");
		return -1;
	}
	if (make_places() || add_watcher(interp))
		return -1;
	watched_id = PyInterpreterState_GetID(interp);
	__atomic_store_n(&watched, interp, __ATOMIC_RELEASE);
	return 0;
}

/* What is known must not outlive what tells that it is gone. */
void assist_unwatch(void)
{
	__atomic_store_n(&watched, NULL, __ATOMIC_RELEASE);
	madvise(places, SETS * sizeof(*places), MADV_DONTNEED);
}
