// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the tables of a Java VM are read; if a field is missing nothing
 * is taken from it, and what makes no sense is no method.
 */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/tap.h"
#include "stubs.h"
#include "vm.h"

/* As libjvm.so has them. */
struct struct_entry {
	const char	*type;
	const char	*field;
	const char	*type_string;
	int32_t		is_static;
	uint64_t	offset;
	const void	*address;
};

struct type_entry {
	const char	*type;
	const char	*super;
	int32_t		flags[3];
	uint64_t	size;
};

/* ---- A VM of our own ------------------------------------------------- */

struct fake_space {
	uintptr_t	low, high;
};

struct fake_heap {
	struct fake_space memory, segmap;
	int32_t		log2_segment;
};

struct fake_block {
	uint64_t	length;
	uint8_t		used;
};

struct fake_class {
	uint64_t	other;
	const void	*loops;
};

struct fake_pool {
	uint64_t	other;
	const struct fake_class *holder;
};

struct fake_const {
	uint64_t	other;
	const struct fake_pool *constants;
};

struct fake_source {
	uint64_t	other;
	const void	*code;
	const struct fake_const *constant;
};

struct fake_method {
	const char	*name;
	struct fake_source *of;
	uintptr_t	begin, end, deopt, entry, verified_entry, osr_entry;
	int32_t		size, frame_complete, frame_size, exception, stub,
			entry_bci, compile_id;
};

struct fake_array {
	int32_t		length;
	const void	**data;
};

#define SEGMENT		128
#define SEGMENTS	64

static struct {
	_Alignas(SEGMENT) unsigned char memory[SEGMENTS * SEGMENT];
} text;
static uint8_t map[SEGMENTS];
static struct fake_heap heap;
static const void *heap_list[1];
static struct fake_array heaps = { 1, heap_list };
static const struct fake_array *heaps_at = &heaps;
static uintptr_t queue_at;
static uint64_t nr_flags;
static uintptr_t flags_at;

#define PLAIN(type, field, of, member) \
	{ type, field, "", 0, offsetof(struct of, member), NULL }
#define STATIC(type, field, variable) \
	{ type, field, "", 1, 0, &(variable) }

static const struct struct_entry all_structs[] = {
	{ "Other", "_heaps", "", 0, 77, NULL },
	{ "CodeCache", NULL, "", 0, 78, NULL },
	STATIC("CodeCache", "_heaps", heaps_at),
	PLAIN("GrowableArrayBase", "_len", fake_array, length),
	PLAIN("GrowableArray<int>", "_data", fake_array, data),
	PLAIN("CodeHeap", "_memory", fake_heap, memory),
	PLAIN("CodeHeap", "_segmap", fake_heap, segmap),
	PLAIN("CodeHeap", "_log2_segment_size", fake_heap, log2_segment),
	PLAIN("VirtualSpace", "_low", fake_space, low),
	PLAIN("VirtualSpace", "_high", fake_space, high),
	PLAIN("HeapBlock::Header", "_length", fake_block, length),
	PLAIN("HeapBlock::Header", "_used", fake_block, used),
	PLAIN("CodeBlob", "_name", fake_method, name),
	PLAIN("CodeBlob", "_size", fake_method, size),
	PLAIN("CodeBlob", "_frame_complete_offset", fake_method,
	      frame_complete),
	PLAIN("CodeBlob", "_frame_size", fake_method, frame_size),
	PLAIN("CodeBlob", "_code_begin", fake_method, begin),
	PLAIN("CodeBlob", "_code_end", fake_method, end),
	PLAIN("CompiledMethod", "_method", fake_method, of),
	PLAIN("CompiledMethod", "_deopt_handler_begin", fake_method, deopt),
	PLAIN("nmethod", "_exception_offset", fake_method, exception),
	PLAIN("nmethod", "_stub_offset", fake_method, stub),
	PLAIN("nmethod", "_entry_point", fake_method, entry),
	PLAIN("nmethod", "_verified_entry_point", fake_method, verified_entry),
	PLAIN("nmethod", "_osr_entry_point", fake_method, osr_entry),
	PLAIN("nmethod", "_entry_bci", fake_method, entry_bci),
	PLAIN("nmethod", "_compile_id", fake_method, compile_id),
	PLAIN("Method", "_code", fake_source, code),
	PLAIN("Method", "_constMethod", fake_source, constant),
	PLAIN("ConstMethod", "_constants", fake_const, constants),
	PLAIN("ConstantPool", "_pool_holder", fake_pool, holder),
	PLAIN("InstanceKlass", "_osr_nmethods_head", fake_class, loops),
	STATIC("AbstractInterpreter", "_code", queue_at),
	{ "StubQueue", "_stub_buffer", "", 0, 0, NULL },
	{ "StubQueue", "_queue_begin", "", 0, 8, NULL },
	{ "StubQueue", "_queue_end", "", 0, 12, NULL },
	{ "InterpreterCodelet", "_size", "", 0, 8, NULL },
	{ "InterpreterCodelet", "_description", "", 0, 0, NULL },
	STATIC("JVMFlag", "flags", flags_at),
	STATIC("JVMFlag", "numFlags", nr_flags),
	{ "JVMFlag", "_name", "", 0, 8, NULL },
	{ "JVMFlag", "_addr", "", 0, 0, NULL },
	{ },
};

static const struct type_entry all_types[] = {
	{ "HeapBlock", NULL, { }, sizeof(struct fake_block) },
	{ "InterpreterCodelet", NULL, { }, 24 },
	{ "JVMFlag", NULL, { }, 16 },
	{ },
};

#define NR_STRUCTS	(sizeof(all_structs) / sizeof(all_structs[0]))
#define NR_TYPES	(sizeof(all_types) / sizeof(all_types[0]))

static bool read_tables(const struct struct_entry *structs,
			const struct type_entry *types, struct vm *vm,
			const char **missing)
{
	struct vm_table s = {
		.entries = (const char *)structs, .stride = sizeof(*structs),
		.type_name = offsetof(struct struct_entry, type),
		.field_name = offsetof(struct struct_entry, field),
		.is_static = offsetof(struct struct_entry, is_static),
		.offset = offsetof(struct struct_entry, offset),
		.address = offsetof(struct struct_entry, address),
	};
	struct vm_table t = {
		.entries = (const char *)types, .stride = sizeof(*types),
		.type_name = offsetof(struct type_entry, type),
		.size = offsetof(struct type_entry, size),
	};

	*missing = NULL;
	return vm_read(&s, &t, vm, missing);
}

/* ---- Tables ---------------------------------------------------------- */

/* The first two entries are not asked for. */
static void check_missing(void)
{
	struct struct_entry structs[NR_STRUCTS];
	struct type_entry types[NR_TYPES];
	const char *missing;
	unsigned int good = 0;
	struct vm vm;
	size_t i;

	for (i = 2; i + 1 < NR_STRUCTS; i++) {
		memcpy(structs, all_structs, sizeof(structs));
		structs[i].type = "Renamed";
		good += !read_tables(structs, all_types, &vm, &missing) &&
			missing && !strcmp(missing, all_structs[i].field);
	}
	IS("each field that is missing is named", good, NR_STRUCTS - 3);
	for (i = good = 0; i + 1 < NR_TYPES; i++) {
		memcpy(types, all_types, sizeof(types));
		types[i].size = 0;
		good += !read_tables(all_structs, types, &vm, &missing) &&
			missing && !strcmp(missing, all_types[i].type);
	}
	IS("each type without size is named", good, NR_TYPES - 1);
	TRUE("empty tables", !read_tables(all_structs + NR_STRUCTS - 1,
					  all_types, &vm, &missing) &&
	     !strcmp(missing, "_heaps"));
	TRUE("a function of no library", !vm_find(&vm, &vm, &missing) &&
	     !strcmp(missing, "libjvm.so"));
	TRUE("a library that is no VM", !vm_find((void *)fopen, &vm,
						 &missing) &&
	     !strcmp(missing, "gHotSpotVMStructs"));
}

/* ---- Methods --------------------------------------------------------- */

/* A block of @nr segments at number @at. */
static struct fake_method *put_method(unsigned int at, unsigned int nr)
{
	unsigned char *block = text.memory + at * SEGMENT;
	struct fake_block header = { nr, 1 };
	struct fake_method *m = (void *)(block + sizeof(header));
	unsigned int i;

	memcpy(block, &header, sizeof(header));
	for (i = 0; i < nr; i++)
		map[at + i] = i < 4 ? i : 3;	/* several hops */
	*m = (struct fake_method){
		.name = "nmethod",
		.begin = (uintptr_t)(m + 1),
		.end = (uintptr_t)block + nr * SEGMENT,
		.size = nr * SEGMENT - sizeof(header),
		.frame_complete = 12, .frame_size = 4, .exception = -1,
		.entry_bci = -1, .compile_id = 7,
	};
	m->entry = m->verified_entry = m->begin;
	return m;
}

static void set_up(struct vm *vm)
{
	const char *missing;

	heap = (struct fake_heap){
		{ (uintptr_t)text.memory, (uintptr_t)(&text + 1) },
		{ (uintptr_t)map, (uintptr_t)(map + SEGMENTS) }, 7 };
	heap_list[0] = &heap;
	memset(map, 0xff, sizeof(map));
	MUST(read_tables(all_structs, all_types, vm, &missing));
}

static void check_methods(void)
{
	struct vm_heap found[VM_MAX_HEAPS];
	struct fake_method *m;
	struct vm_method method;
	uintptr_t pc;
	struct vm vm;

	set_up(&vm);
	IS("heaps", vm_heaps(&vm, found), 1);
	TRUE("a heap", found[0].low == heap.memory.low &&
	     found[0].high == heap.memory.high);
	m = put_method(10, 20);
	pc = m->end - 1;
	TRUE("a method", vm_method(&vm, pc, &method) &&
	     method.begin == m->begin && method.end == m->end &&
	     method.frame == 32 && method.frame_complete == m->begin + 12 &&
	     !method.exception && !method.osr_entry && !method.is_native &&
	     method.compile_id == 7);
	TRUE("it is there", vm_method_is(&vm, &method));
	m->compile_id = 8;
	TRUE("another one is there", !vm_method_is(&vm, &method));
	m->compile_id = 7;
	((struct fake_block *)m)[-1].used = 0;
	TRUE("it is not there", !vm_method_is(&vm, &method));
	TRUE("a block that is free", !vm_method(&vm, pc, &method));
	m = put_method(10, 20);
	m->name = "native nmethod";
	m->entry_bci = 5;
	m->osr_entry = m->begin + 40;
	TRUE("native, and entered at a loop", vm_method(&vm, pc, &method) &&
	     method.is_native && method.osr_entry == m->osr_entry);
	TRUE("no buffer", !vm_is_buffer(&vm, m->begin, "native nmethod"));
	m->frame_size = 1;
	TRUE("half a frame", !vm_method(&vm, pc, &method));
	m->frame_size = 0;
	TRUE("native without a frame", vm_method(&vm, pc, &method));
	TRUE("a buffer", vm_is_buffer(&vm, m->begin, "native nmethod"));
	TRUE("a stub in it", !vm_is_buffer(&vm, m->begin, "a stub") &&
	     !vm_is_buffer(&vm, m->begin + 8, "native nmethod"));
	TRUE("names of buffers", stub_is_kept("I2C/C2I adapters(LL)@0x1") &&
	     stub_is_kept("get_cpu_info_stub") &&
	     stub_is_kept("unwind_exception Runtime1 stub") &&
	     stub_is_kept("g1_post_barrier_slow") &&
	     !stub_is_kept("exception_blob") && !stub_is_kept(""));
	TRUE("stubs that move frames", stub_moves_frames("Cont thaw") &&
	     !stub_moves_frames("Continuation"));
	put_method(10, 20);
	m->end++;
	TRUE("a method that ends past its block",
	     !vm_method(&vm, m->begin, &method));
	TRUE("a free segment", !vm_method(&vm, heap.memory.low, &method));
	TRUE("no heap", !vm_method(&vm, (uintptr_t)&vm, &method));
}

/* Code events with a start in a heap, or with the right length. */
static void check_code(void)
{
	struct fake_block *block;
	struct fake_method *m;
	uintptr_t size;
	struct vm vm;

	set_up(&vm);
	m = put_method(10, 20);
	block = (struct fake_block *)m - 1;
	size = m->end - m->begin;
	TRUE("code", vm_is_code(&vm, m->begin, size) &&
	     vm_is_code(&vm, m->end - 1, 1));
	TRUE("code that ends past its block",
	     !vm_is_code(&vm, m->begin, size + 1) &&
	     !vm_is_code(&vm, m->begin, INT32_MAX));
	TRUE("a header", !vm_is_code(&vm, (uintptr_t)block, 1));
	TRUE("code of a free segment", !vm_is_code(&vm, heap.memory.low, 1));
	TRUE("code of no heap", !vm_is_code(&vm, (uintptr_t)&vm, 1));
	block->length = SEGMENTS;
	TRUE("code of a block that leaves the heap",
	     !vm_is_code(&vm, m->begin, size));
	block->length = 20;
	block->used = 0;
	TRUE("code of a free block", !vm_is_code(&vm, m->begin, size));
}

/* ---- Methods that are installed -------------------------------------- */

static const char kind[] = "nmethod";
static struct fake_source sources[4];

static struct fake_method *install(unsigned int at, unsigned int nr,
				   unsigned int source)
{
	struct fake_method *m = put_method(at, nr);

	m->name = kind;
	m->of = sources + source;
	sources[source].code = m;
	return m;
}

/* A character for each that is found: where it is in 'all'. */
static const char *found_in(const struct vm *vm, struct fake_method **all)
{
	static char text[20];
	struct vm_place place = { };
	struct vm_method m;
	unsigned int n = 0, i;

	while (n < sizeof(text) - 1 &&
	       vm_next_installed(vm, (uintptr_t)kind, &place, &m)) {
		for (i = 0; i < 4 && m.begin != all[i]->begin; i++)
			;
		text[n++] = "0123?"[i];
	}
	text[n] = '\0';
	return text;
}

#define FOUND(name, want) do { \
	const char *got = found_in(&vm, all); \
	result(!strcmp(got, want), name, "'%s', expected '%s'", got, want); \
} while (0)

static void check_installed(void)
{
	struct fake_method *all[4];
	struct fake_block *block;
	struct vm vm;

	set_up(&vm);
	memset(&text, 0, sizeof(text));
	FOUND("an empty heap has none", "");
	all[0] = install(0, 10, 0);
	all[1] = install(10, 6, 1);
	all[2] = install(16, 20, 2);
	all[3] = install(36, SEGMENTS - 36, 3);
	FOUND("all that are installed", "0123");
	sources[1].code = all[0];
	FOUND("one that is not yet, or not any more", "023");
	sources[1].code = all[1];
	all[1]->of = (void *)16;
	FOUND("one that is being made", "023");
	all[1]->of = sources + 1;
	all[1]->name = "nmethod, of another kind";
	FOUND("one of another kind", "023");
	all[1]->name = kind;
	all[1]->end = 0;
	FOUND("one that makes no sense", "023");
	all[1]->end = heap.memory.high + 1;
	FOUND("one that ends past the heap", "023");
	install(10, 6, 1);
	block = (struct fake_block *)all[1] - 1;
	block->used = 0;
	FOUND("a free block", "023");
	block->used = 1;
	block->length = 0;
	FOUND("a block without a length", "01");
	block->length = SEGMENTS - 10;
	FOUND("a block up to the end of the heap", "01");
	block->length = SEGMENTS - 9;
	FOUND("a block that leaves the heap", "01");
	block->length = UINT64_MAX;
	FOUND("a length that wraps around", "01");
	block->length = SEGMENTS - 11;
	FOUND("a block too small for a method", "01");
}

/* ---- A word that may be one's ---------------------------------------- */

static struct fake_class class;
static const struct fake_pool pool = { .holder = &class };
static const struct fake_const constant = { .constants = &pool };

static bool is_found(const struct vm *vm, const void *word)
{
	struct vm_method m;

	return vm_installed(vm, (uintptr_t)kind, (uintptr_t)word, &m) &&
	       m.blob == (uintptr_t)word;
}

static bool is_made(const struct vm *vm, const void *word)
{
	struct vm_method m;

	return vm_made(vm, (uintptr_t)kind, (uintptr_t)word, &m) &&
	       m.blob == (uintptr_t)word;
}

/* The same before it is installed. */
static void check_made(void)
{
	struct vm_method one, other;
	struct fake_method *m;
	unsigned int i, found = 0;
	struct vm vm;

	set_up(&vm);
	memset(&text, 0, sizeof(text));
	m = install(10, 20, 0);
	sources[0].code = NULL;
	for (i = 0; i < sizeof(text); i++)
		found += is_made(&vm, text.memory + i);
	IS("not installed: the blob's address is one", found, 1);
	TRUE("it is, as well", is_made(&vm, m));
	m->end++;
	TRUE("it ends past its block", !is_made(&vm, m));
	m->end--;
	((struct fake_block *)m)[-1].length = SEGMENTS;
	TRUE("its block ends past the heap", !is_made(&vm, m));
	((struct fake_block *)m)[-1].length = 20;
	m->name = "nmethod, of another kind";
	TRUE("it is of another kind", !is_made(&vm, m));
	m->name = kind;
	MUST(vm_method(&vm, m->begin, &one));
	m->of = sources + 1;
	MUST(vm_method(&vm, m->begin, &other));
	TRUE("the same", vm_same(&one, &other));
	m->frame_size++;
	MUST(vm_method(&vm, m->begin, &other));
	TRUE("another frame", !vm_same(&one, &other));
	m->frame_size--;
	m->frame_complete--;
	MUST(vm_method(&vm, m->begin, &other));
	TRUE("complete elsewhere", !vm_same(&one, &other));
	m->frame_complete++;
	((struct fake_block *)m)[-1].used = 0;
	TRUE("it is free", !is_made(&vm, m));
}

static void check_words(void)
{
	struct fake_method *m;
	unsigned int i, found = 0;
	struct vm vm;

	set_up(&vm);
	memset(&text, 0, sizeof(text));
	m = install(10, 20, 0);
	for (i = 0; i < sizeof(text); i++)
		found += is_found(&vm, text.memory + i);
	IS("of all addresses in the heap the blob's is one", found, 1);
	TRUE("it is", is_found(&vm, m));
	TRUE("words outside of it", !is_found(&vm, NULL) &&
	     !is_found(&vm, (void *)-1) && !is_found(&vm, &vm));
	sources[0].code = NULL;
	TRUE("not installed", !is_found(&vm, m));
	sources[0].constant = &constant;
	class.loops = m;
	TRUE("entered at its start, and among the loops", !is_found(&vm, m));
	m->entry_bci = 5;
	TRUE("the newest loop of its class", is_found(&vm, m));
	class.loops = m + 1;
	TRUE("not the newest", !is_found(&vm, m));
	class.loops = m;
	sources[0].constant = (void *)16;
	TRUE("its class cannot be read", !is_found(&vm, m));
	sources[0].constant = &constant;
	((struct fake_block *)m)[-1].used = 0;
	TRUE("free", !is_found(&vm, m));
	sources[0].constant = NULL;
}

static void refused(const char *name, size_t member, int64_t value,
		    size_t size)
{
	struct fake_method *m;
	struct vm_method method;
	struct vm vm;

	set_up(&vm);
	m = put_method(10, 20);
	MUST(vm_method(&vm, m->begin, &method));
	memcpy((char *)m + member, &value, size);
	result(!vm_method(&vm, (uintptr_t)(m + 1), &method), name,
	       "it is taken");
}

#define REFUSED(member, value) \
	refused(#member " " #value, offsetof(struct fake_method, member), \
		value, sizeof(((struct fake_method *)NULL)->member))

static void check_nonsense(void)
{
	struct vm_method method;
	struct vm_heap found[VM_MAX_HEAPS];
	struct vm vm;

	REFUSED(frame_size, 0);
	REFUSED(frame_size, 1);
	REFUSED(frame_size, -1);
	REFUSED(frame_size, 1 << 20);
	REFUSED(frame_complete, -1);
	REFUSED(frame_complete, 1 << 20);
	REFUSED(begin, INT64_MAX);
	REFUSED(begin, 0);
	REFUSED(end, 0);
	REFUSED(end, INT64_MAX);
	set_up(&vm);
	memset(map, 9, sizeof(map));
	TRUE("a map that leads out of the heap",
	     !vm_method(&vm, heap.memory.low + 3 * SEGMENT, &method));
	heaps.length = VM_MAX_HEAPS + 1;
	IS("too many heaps", vm_heaps(&vm, found), 0);
	heaps.length = -1;
	IS("less than no heaps", vm_heaps(&vm, found), 0);
	heaps.length = 1;
	heaps_at = NULL;
	IS("no heaps yet", vm_heaps(&vm, found), 0);
	heaps_at = &heaps;
}

/* ---- The VMs of this machine ----------------------------------------- */

static void check_here(void)
{
	const char *missing;
	unsigned int seen = 0;
	void *library;
	glob_t found = { };
	struct vm vm;
	size_t i;

	if (!glob("/usr/lib/jvm/java-*/lib/server/libjvm.so", 0, NULL, &found))
		for (i = 0; i < found.gl_pathc; i++) {
			library = dlopen(found.gl_pathv[i], RTLD_LAZY);
			if (!library)
				continue;
			missing = "";
			seen++;
			result(vm_find(dlsym(library, "JNI_CreateJavaVM"), &vm,
				       &missing), found.gl_pathv[i],
			       "%s is missing", missing);
		}
	globfree(&found);
	if (!seen)
		skip("a VM of this machine", "no Java here");
}

int main(void)
{
	check_missing();
	check_methods();
	check_code();
	check_installed();
	check_words();
	check_made();
	check_nonsense();
	check_here();
	return finish();
}
