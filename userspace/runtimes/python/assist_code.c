// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A cache of code objects by address, so that a handler need not read them
 * again. The interpreter reports when one is created or destroyed.
 *
 * Handlers add what they have read. Any thread may be in a handler, even while
 * this one is told that an object is gone. So whoever sets a place's key to
 * BUSY owns the place, and readers check the key again after reading.
 */
#include <errno.h>
#include <sys/mman.h>

#include "assist.h"

#define BUSY	((uintptr_t)1)

/* A power of two of sets. An object may be in any place of its set. */
#define SETS	4096
#define PLACES	8

struct place {
	uintptr_t key;		/* a code object, 0 or BUSY */
	struct assist_code code;
	uint64_t unused;	/* so that two places fill a cache line */
};

static struct place (*places)[PLACES];
static PyInterpreterState *watched;
static uint64_t watched_id;

/* ---- In a handler --------------------------------------------------------- */

static struct place *find_set(uintptr_t key)
{
	/* Objects are aligned to 16 bytes. */
	return places[(key >> 4 ^ key >> 16) % SETS];
}

static bool is_known_code(const struct place *place, uintptr_t key,
			  struct assist_code *code)
{
	if (__atomic_load_n(&place->key, __ATOMIC_ACQUIRE) != key)
		return false;
	*code = place->code;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&place->key, __ATOMIC_RELAXED) == key;
}

static bool find_code_slot(uintptr_t key, struct assist_code *code)
{
	struct place *set = find_set(key);
	int i;

	for (i = 0; i < PLACES; i++)
		if (is_known_code(&set[i], key, code))
			return true;
	return false;
}

/* In a full set, the new object's address selects the place to evict. */
static struct place *choose(struct place *set, uintptr_t key)
{
	int i;

	for (i = 0; i < PLACES; i++)
		if (!__atomic_load_n(&set[i].key, __ATOMIC_RELAXED))
			return &set[i];
	return &set[(key >> 8) % PLACES];
}

static void keep_code(uintptr_t key, const struct assist_code *code)
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
 * A call of a class in the loop adds a glue frame below that of __init__(), to
 * check its result. Its code object is the only one without a version number
 * while numbers are left.
 */
static bool is_glue(const PyCodeObject *code)
{
	return !code->co_version && code->co_qualname == code->co_filename &&
	       code->co_name == code->co_filename && !code->co_nlocalsplus;
}

/* ob_refcnt of freed memory is a pointer or 0; of an object it is neither. */
static bool is_code_object(const PyCodeObject *code)
{
	return Py_TYPE((PyObject *)code) == &PyCode_Type &&
	       code->ob_base.ob_base.ob_refcnt > 0 &&
	       code->ob_base.ob_base.ob_refcnt <= UINT32_MAX &&
	       code->co_framesize > 0;
}

/* Addresses are reused, versions are not. Each interpreter has its own. */
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

static __attribute__((noinline)) int read_code_object(const PyObject *object,
						      struct assist_code *found)
{
	PyCodeObject code;
	int ret;

	ret = sfjit_assist_read(&code, object,
				offsetof(PyCodeObject, co_code_adaptive));
	if (ret)
		return ret;
	if (!is_code_object(&code))
		return -ENOENT;
	ret = name(object, &code, found);
	if (!ret)
		keep_code((uintptr_t)object, found);
	return ret;
}

int assist_find_code(const PyObject *object, struct assist_code *found)
{
	return find_code_slot((uintptr_t)object, found) ? 0 :
	       read_code_object(object, found);
}

bool assist_is_watched(const PyInterpreterState *interp)
{
	return interp == __atomic_load_n(&watched, __ATOMIC_ACQUIRE);
}

/* ---- Under the GIL -------------------------------------------------------- */

static void forget_code(uintptr_t key)
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

/* The address is new, or gone. */
static int on_code(PyCodeEvent event, PyCodeObject *code)
{
	forget_code((uintptr_t)code);
	return 0;
}

/* The interpreter frees its dictionary while watchers are still called. */
static void on_end(PyObject *note)
{
	assist_unwatch();
}

/* An existing watcher stays: its number does not identify it. */
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

/* Entries must not outlive the watcher that removes them. */
void assist_unwatch(void)
{
	__atomic_store_n(&watched, NULL, __ATOMIC_RELEASE);
	madvise(places, SETS * sizeof(*places), MADV_DONTNEED);
}
