// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Read the VM's own description of its data, and the data. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "vm.h"

/* Where to store a field's offset; without a field: a type's size. */
struct wanted {
	const char	*type;
	const char	*field;
	size_t		to;
};

#define FIELD(type, field, to)	{ type, field, offsetof(struct vm, to) }
#define SIZE(type, to)		{ type, NULL, offsetof(struct vm, to) }

static const struct wanted wanted[] = {
	FIELD("CodeCache", "_heaps", heaps),
	FIELD("GrowableArrayBase", "_len", array_length),
	FIELD("GrowableArray<int>", "_data", array_data),
	FIELD("CodeHeap", "_memory", heap_memory),
	FIELD("CodeHeap", "_segmap", heap_segmap),
	FIELD("CodeHeap", "_log2_segment_size", heap_log2_segment),
	FIELD("VirtualSpace", "_low", space_low),
	FIELD("VirtualSpace", "_high", space_high),
	FIELD("HeapBlock::Header", "_length", block_length),
	FIELD("HeapBlock::Header", "_used", block_used),
	SIZE("HeapBlock", block_size),
	FIELD("CodeBlob", "_name", blob_name),
	FIELD("CodeBlob", "_size", blob_size),
	FIELD("CodeBlob", "_frame_complete_offset", blob_frame_complete),
	FIELD("CodeBlob", "_frame_size", blob_frame_size),
	FIELD("CodeBlob", "_code_begin", blob_code_begin),
	FIELD("CodeBlob", "_code_end", blob_code_end),
	FIELD("CompiledMethod", "_method", method_of),
	FIELD("CompiledMethod", "_deopt_handler_begin", method_deopt),
	FIELD("nmethod", "_exception_offset", method_exception),
	FIELD("nmethod", "_stub_offset", method_stub),
	FIELD("nmethod", "_entry_point", method_entry),
	FIELD("nmethod", "_verified_entry_point", method_verified_entry),
	FIELD("nmethod", "_osr_entry_point", method_osr_entry),
	FIELD("nmethod", "_entry_bci", method_entry_bci),
	FIELD("nmethod", "_compile_id", method_compile_id),
	FIELD("Method", "_code", code_of),
	FIELD("Method", "_constMethod", const_of),
	FIELD("ConstMethod", "_constants", constants_of),
	FIELD("ConstantPool", "_pool_holder", class_of),
	FIELD("InstanceKlass", "_osr_nmethods_head", class_loops),
	FIELD("AbstractInterpreter", "_code", interpreter),
	FIELD("StubQueue", "_stub_buffer", queue_buffer),
	FIELD("StubQueue", "_queue_begin", queue_begin),
	FIELD("StubQueue", "_queue_end", queue_end),
	FIELD("InterpreterCodelet", "_size", codelet_size),
	FIELD("InterpreterCodelet", "_description", codelet_description),
	SIZE("InterpreterCodelet", codelet_header),
	FIELD("JVMFlag", "flags", flags),
	FIELD("JVMFlag", "numFlags", nr_flags),
	FIELD("JVMFlag", "_name", flag_name),
	FIELD("JVMFlag", "_addr", flag_address),
	SIZE("JVMFlag", flag_size),
};

#define NR_WANTED	(sizeof(wanted) / sizeof(wanted[0]))

/* ---- The tables ------------------------------------------------------ */

static const char *get_string(const char *entry, uint64_t at)
{
	const char *string;

	memcpy(&string, entry + at, sizeof(string));
	return string;
}

static uint64_t get_long(const char *entry, uint64_t at)
{
	uint64_t value;

	memcpy(&value, entry + at, sizeof(value));
	return value;
}

static bool is_named(const char *name, const char *want)
{
	return name && !strcmp(name, want);
}

/* A static field's address, or another field's offset. */
static bool find_vm_field(const struct vm_table *table,
			  const struct wanted *want, uint64_t *value)
{
	const char *entry = table->entries, *type;
	int is_static;

	for (; (type = get_string(entry, table->type_name));
	     entry += table->stride) {
		if (!is_named(type, want->type) ||
		    !is_named(get_string(entry, table->field_name),
			      want->field))
			continue;
		memcpy(&is_static, entry + table->is_static, sizeof(is_static));
		*value = get_long(entry, is_static ? table->address :
						     table->offset);
		return true;
	}
	return false;
}

static bool find_size(const struct vm_table *table, const struct wanted *want,
		      uint64_t *value)
{
	const char *entry = table->entries, *type;

	for (; (type = get_string(entry, table->type_name));
	     entry += table->stride) {
		if (!is_named(type, want->type))
			continue;
		*value = get_long(entry, table->size);
		return *value != 0;
	}
	return false;
}

bool vm_read(const struct vm_table *structs, const struct vm_table *types,
	     struct vm *vm, const char **missing)
{
	const struct wanted *want = wanted;
	uint64_t *value;
	bool found;

	for (; want < wanted + NR_WANTED; want++) {
		value = (uint64_t *)((char *)vm + want->to);
		found = want->field ? find_vm_field(structs, want, value) :
				      find_size(types, want, value);
		if (!found) {
			*missing = want->field ? want->field : want->type;
			return false;
		}
	}
	return true;
}

/* ---- The library ----------------------------------------------------- */

struct symbol {
	const char	*name;
	size_t		to;
};

#define SYMBOL(name, to)	{ name, offsetof(struct vm_table, to) }

static const struct symbol struct_symbols[] = {
	SYMBOL("gHotSpotVMStructs", entries),
	SYMBOL("gHotSpotVMStructEntryArrayStride", stride),
	SYMBOL("gHotSpotVMStructEntryTypeNameOffset", type_name),
	SYMBOL("gHotSpotVMStructEntryFieldNameOffset", field_name),
	SYMBOL("gHotSpotVMStructEntryIsStaticOffset", is_static),
	SYMBOL("gHotSpotVMStructEntryOffsetOffset", offset),
	SYMBOL("gHotSpotVMStructEntryAddressOffset", address),
	{ },
};

static const struct symbol type_symbols[] = {
	SYMBOL("gHotSpotVMTypes", entries),
	SYMBOL("gHotSpotVMTypeEntryArrayStride", stride),
	SYMBOL("gHotSpotVMTypeEntryTypeNameOffset", type_name),
	SYMBOL("gHotSpotVMTypeEntrySizeOffset", size),
	{ },
};

/* All of them are 64-bit variables. */
static bool read_vm_symbols(void *library, const struct symbol *symbol,
			    struct vm_table *table, const char **missing)
{
	const void *variable;

	for (; symbol->name; symbol++) {
		variable = dlsym(library, symbol->name);
		*missing = symbol->name;
		if (!variable)
			return false;
		memcpy((char *)table + symbol->to, variable, sizeof(uint64_t));
	}
	return table->entries && table->stride;
}

bool vm_find(const void *address, struct vm *vm, const char **missing)
{
	struct vm_table structs = { }, types = { };
	Dl_info info;
	void *library;
	bool found;

	*missing = "libjvm.so";
	if (!dladdr(address, &info))
		return false;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	found = read_vm_symbols(library, struct_symbols, &structs, missing) &&
		read_vm_symbols(library, type_symbols, &types, missing) &&
		vm_read(&structs, &types, vm, missing);
	dlclose(library);
	return found;
}

/* ---- Code heaps ------------------------------------------------------ */

static uintptr_t vm_word(uintptr_t at)
{
	return *(const uintptr_t *)at;
}

static int32_t read_int(uintptr_t at)
{
	return *(const int32_t *)at;
}

unsigned int vm_heaps(const struct vm *vm, struct vm_heap heaps[VM_MAX_HEAPS])
{
	uintptr_t array = vm_word(vm->heaps), data, memory;
	int i, nr;

	if (!array)
		return 0;
	nr = read_int(array + vm->array_length);
	data = vm_word(array + vm->array_data);
	if (nr < 0 || nr > VM_MAX_HEAPS)
		return 0;
	for (i = 0; i < nr; i++) {
		heaps[i].object = vm_word(data + i * sizeof(void *));
		memory = heaps[i].object + vm->heap_memory;
		heaps[i].low = vm_word(memory + vm->space_low);
		heaps[i].high = vm_word(memory + vm->space_high);
	}
	return nr;
}

/*
 * The map has a byte for each segment of a heap: the distance to the start of
 * its block in segments, or the first of several hops if that does not fit. The
 * largest value means that the segment is free.
 */
static uintptr_t find_heap_block(const struct vm *vm,
				 const struct vm_heap *heap, uintptr_t pc)
{
	const uint8_t *map = (const uint8_t *)vm_word(heap->object +
				vm->heap_segmap + vm->space_low);
	int shift = read_int(heap->object + vm->heap_log2_segment);
	uintptr_t i = (pc - heap->low) >> shift;

	if (map[i] == 0xff)
		return 0;
	while (map[i]) {
		if (map[i] > i)
			return 0;
		i -= map[i];
	}
	return heap->low + (i << shift);
}

static bool find_heap(const struct vm *vm, uintptr_t pc, struct vm_heap *heap)
{
	struct vm_heap heaps[VM_MAX_HEAPS];
	unsigned int i, nr = vm_heaps(vm, heaps);

	for (i = 0; i < nr; i++) {
		if (pc < heaps[i].low || pc >= heaps[i].high)
			continue;
		*heap = heaps[i];
		return true;
	}
	return false;
}

/* Reads a block, which must lie inside the heap. */
static bool bound_block(const struct vm *vm, const struct vm_heap *heap,
			uintptr_t block, struct vm_heap *own)
{
	int shift = read_int(heap->object + vm->heap_log2_segment);
	uint64_t length = vm_word(block + vm->block_length);

	*own = (struct vm_heap){ heap->object, block, block };
	if (length > (heap->high - block) >> shift)
		return false;
	own->high += length << shift;
	return true;
}

/* Finds the blob at @pc and its block. */
static uintptr_t find_blob(const struct vm *vm, uintptr_t pc,
			   struct vm_heap *own)
{
	struct vm_heap heap;
	uintptr_t block;

	if (!find_heap(vm, pc, &heap))
		return 0;
	block = find_heap_block(vm, &heap, pc);
	if (!block || !*(const bool *)(block + vm->block_used) ||
	    !bound_block(vm, &heap, block, own))
		return 0;
	return block + vm->block_size;
}

/*
 * When the VM reports all code, it may have read some that was being written.
 */
bool vm_is_code(const struct vm *vm, uintptr_t start, size_t length)
{
	struct vm_heap own;
	uintptr_t blob = find_blob(vm, start, &own);

	return blob && start >= blob && length <= own.high - start;
}

/* ---- Compiled methods ------------------------------------------------ */

static uintptr_t at_offset(uintptr_t blob, int32_t offset)
{
	return offset > 0 ? blob + offset : 0;
}

/*
 * No frame is larger than a stack. Methods that jump to the target of a method
 * handle count as native and have no frame.
 */
static bool is_sane(const struct vm_method *m)
{
	return m->begin < m->end &&
	       (m->frame >= 16 || (m->is_native && !m->frame)) &&
	       m->frame < 1u << 20 &&
	       m->frame_complete >= m->begin && m->frame_complete <= m->end;
}

/* -1: entered at the start; else at a loop (OSR) */
static bool is_osr_method(const struct vm *vm, uintptr_t blob)
{
	return read_int(blob + vm->method_entry_bci) != -1;
}

static void read_method(const struct vm *vm, uintptr_t blob,
			struct vm_method *m)
{
	*m = (struct vm_method){
		.blob = blob,
		.name = vm_word(blob + vm->blob_name),
		.compile_id = read_int(blob + vm->method_compile_id),
		.begin = vm_word(blob + vm->blob_code_begin),
		.end = vm_word(blob + vm->blob_code_end),
		.entry = vm_word(blob + vm->method_entry),
		.verified_entry = vm_word(blob + vm->method_verified_entry),
		.exception = at_offset(blob, read_int(blob +
						vm->method_exception)),
		.deopt = vm_word(blob + vm->method_deopt),
		.stubs = at_offset(blob, read_int(blob + vm->method_stub)),
		.frame = 8 * read_int(blob + vm->blob_frame_size),
	};
	m->frame_complete = m->begin +
			    read_int(blob + vm->blob_frame_complete);
	m->is_native = is_named((const char *)m->name, "native nmethod");
	if (is_osr_method(vm, blob))
		m->osr_entry = vm_word(blob + vm->method_osr_entry);
}

/* Checks that the code lies inside of the block, whatever is being written. */
static bool read_inside(const struct vm *vm, const struct vm_heap *bounds,
			uintptr_t blob, struct vm_method *m)
{
	read_method(vm, blob, m);
	return is_sane(m) && m->begin >= bounds->low && m->end <= bounds->high;
}

bool vm_method(const struct vm *vm, uintptr_t pc, struct vm_method *m)
{
	struct vm_heap own;
	uintptr_t blob = find_blob(vm, pc, &own);

	return blob && read_inside(vm, &own, blob, m) && m->begin <= pc &&
	       pc < m->end;
}

/* The first block of a heap, or the next one. */
static bool next_block(const struct vm *vm, const struct vm_heap *heap,
		       struct vm_place *place)
{
	int shift = read_int(heap->object + vm->heap_log2_segment);
	uint64_t length;

	if (!place->block) {
		place->block = heap->low;
		return heap->low < heap->high;
	}
	length = vm_word(place->block + vm->block_length);
	/* A block has a length and ends inside its heap. */
	if (!length || length >= (heap->high - place->block) >> shift)
		return false;
	place->block += length << shift;
	return true;
}

/* A block that is being written may hold anything, also as an address. */
static uintptr_t try_word(uintptr_t at)
{
	uintptr_t word = 0;
	struct iovec to = { &word, sizeof(word) };
	struct iovec from = { (void *)at, sizeof(word) };

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof(word))
		return 0;
	return word;
}

/* The newest method of a class comes first. */
static uintptr_t newest_loop(const struct vm *vm, uintptr_t method)
{
	uintptr_t constant = try_word(method + vm->const_of);
	uintptr_t pool = try_word(constant + vm->constants_of);

	return try_word(try_word(pool + vm->class_of) + vm->class_loops);
}

/* Methods are larger than this, and all their fields are below. */
#define METHOD_HEAD	256

static bool is_of_kind(const struct vm *vm, uintptr_t kind,
		       const struct vm_heap *heap, uintptr_t block)
{
	return heap->high - block > METHOD_HEAD &&
	       *(const volatile bool *)(block + vm->block_used) &&
	       vm_word(block + vm->block_size + vm->blob_name) == kind;
}

/*
 * The VM fills the blob before it sets Method::_code or adds the method to the
 * OSR list.
 */
static bool is_installed_kind(const struct vm *vm, uintptr_t kind,
			      const struct vm_heap *heap, uintptr_t block)
{
	uintptr_t blob = block + vm->block_size, method;

	if (!is_of_kind(vm, kind, heap, block))
		return false;
	method = vm_word(blob + vm->method_of);
	return try_word(method + vm->code_of) == blob ||
	       (is_osr_method(vm, blob) && newest_loop(vm, method) == blob);
}

bool vm_next_installed(const struct vm *vm, uintptr_t kind,
		       struct vm_place *place, struct vm_method *m)
{
	struct vm_heap heaps[VM_MAX_HEAPS];
	unsigned int nr = vm_heaps(vm, heaps);

	while (place->heap < nr) {
		if (!next_block(vm, heaps + place->heap, place)) {
			place->heap++;
			place->block = 0;
			continue;
		}
		if (is_installed_kind(vm, kind, heaps + place->heap,
				      place->block) &&
		    read_inside(vm, heaps + place->heap,
				place->block + vm->block_size, m))
			return true;
	}
	return false;
}

static bool find_method(const struct vm *vm, uintptr_t word,
			struct vm_heap *heap, uintptr_t *block)
{
	if (!find_heap(vm, word, heap))
		return false;
	*block = find_heap_block(vm, heap, word);
	return *block && *block + vm->block_size == word;
}

bool vm_installed(const struct vm *vm, uintptr_t kind, uintptr_t word,
		  struct vm_method *m)
{
	struct vm_heap heap;
	uintptr_t block;

	return find_method(vm, word, &heap, &block) &&
	       is_installed_kind(vm, kind, &heap, block) &&
	       read_inside(vm, &heap, word, m);
}

bool vm_made(const struct vm *vm, uintptr_t kind, uintptr_t word,
	     struct vm_method *m)
{
	struct vm_heap heap, own;
	uintptr_t block;

	return find_method(vm, word, &heap, &block) &&
	       is_of_kind(vm, kind, &heap, block) &&
	       bound_block(vm, &heap, block, &own) &&
	       read_inside(vm, &own, word, m);
}

bool vm_same(const struct vm_method *a, const struct vm_method *b)
{
	return !memcmp(a, b, offsetof(struct vm_method, is_native));
}

bool vm_method_is(const struct vm *vm, const struct vm_method *m)
{
	uintptr_t block = m->blob - vm->block_size;

	return *(const bool *)(block + vm->block_used) &&
	       (uint32_t)read_int(m->blob + vm->method_compile_id) ==
			m->compile_id &&
	       vm_word(m->blob + vm->blob_code_begin) == m->begin;
}

/* Stubs in a buffer have other names, and blobs that run have a frame. */
bool vm_is_buffer(const struct vm *vm, uintptr_t code, const char *name)
{
	struct vm_heap own;
	uintptr_t blob = find_blob(vm, code, &own);

	return blob && vm_word(blob + vm->blob_code_begin) == code &&
	       read_int(blob + vm->blob_frame_size) <= 0 &&
	       is_named((const char *)vm_word(blob + vm->blob_name), name);
}

/* ---- The interpreter ------------------------------------------------- */

uint64_t *vm_flag(const struct vm *vm, const char *name)
{
	uintptr_t flag = vm_word(vm->flags);
	size_t i, nr = vm_word(vm->nr_flags);

	for (i = 0; i < nr; i++, flag += vm->flag_size)
		if (is_named((const char *)vm_word(flag + vm->flag_name),
			     name))
			return (uint64_t *)vm_word(flag + vm->flag_address);
	return NULL;
}

/* The code follows the header at the next multiple of CodeEntryAlignment. */
bool vm_next_codelet(const struct vm *vm, struct vm_codelet *codelet)
{
	uintptr_t queue = vm_word(vm->interpreter), buffer, end, align;
	const uint64_t *alignment = vm_flag(vm, "CodeEntryAlignment");

	if (!queue || !alignment)
		return false;
	buffer = vm_word(queue + vm->queue_buffer);
	end = buffer + read_int(queue + vm->queue_end);
	align = *alignment;
	if (align & (align - 1) || align > 64)
		return false;
	codelet->at = codelet->at ? codelet->end :
		      buffer + read_int(queue + vm->queue_begin);
	if (codelet->at >= end)
		return false;
	codelet->begin = (codelet->at + vm->codelet_header + align - 1) &
			 ~(align - 1);
	codelet->end = codelet->at + read_int(codelet->at + vm->codelet_size);
	codelet->name = (const char *)vm_word(codelet->at +
					      vm->codelet_description);
	/* Some codelets have no code. */
	return codelet->at < codelet->end && codelet->end <= end;
}
