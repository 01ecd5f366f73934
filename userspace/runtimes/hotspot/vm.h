/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the VM says about itself: the tables gHotSpotVMStructs and
 * gHotSpotVMTypes, which libjvm.so exports for debuggers.
 */
#ifndef SFJIT_VM_H
#define SFJIT_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table: its first entry, and where an entry has what. */
struct vm_table {
	const char	*entries;
	uint64_t	stride;
	uint64_t	type_name;
	uint64_t	field_name;	/* of gHotSpotVMStructs, as the next */
	uint64_t	is_static;
	uint64_t	offset;
	uint64_t	address;
	uint64_t	size;		/* gHotSpotVMTypes only */
};

/* Offsets of fields, addresses of static ones, and sizes. */
struct vm {
	uint64_t	heaps;			/* CodeCache::_heaps */
	uint64_t	array_length;
	uint64_t	array_data;
	uint64_t	heap_memory;
	uint64_t	heap_segmap;
	uint64_t	heap_log2_segment;
	uint64_t	space_low;
	uint64_t	space_high;
	uint64_t	block_length;
	uint64_t	block_used;
	uint64_t	block_size;		/* sizeof(HeapBlock) */
	uint64_t	blob_name;
	uint64_t	blob_size;
	uint64_t	blob_frame_complete;
	uint64_t	blob_frame_size;
	uint64_t	blob_code_begin;
	uint64_t	blob_code_end;
	uint64_t	method_of;		/* what it was compiled from */
	uint64_t	method_deopt;
	uint64_t	method_exception;
	uint64_t	method_stub;
	uint64_t	method_entry;
	uint64_t	method_verified_entry;
	uint64_t	method_osr_entry;
	uint64_t	method_entry_bci;
	uint64_t	method_compile_id;
	uint64_t	code_of;		/* Method::_code */
	uint64_t	const_of;		/* Method::_constMethod */
	uint64_t	constants_of;		/* ConstMethod::_constants */
	uint64_t	class_of;		/* ConstantPool::_pool_holder */
	uint64_t	class_loops;		/* first method entered at one */
	uint64_t	interpreter;		/* AbstractInterpreter::_code */
	uint64_t	queue_buffer;
	uint64_t	queue_begin;
	uint64_t	queue_end;
	uint64_t	codelet_size;
	uint64_t	codelet_description;
	uint64_t	codelet_header;		/* sizeof(InterpreterCodelet) */
	uint64_t	flags;			/* JVMFlag::flags */
	uint64_t	nr_flags;
	uint64_t	flag_name;
	uint64_t	flag_address;
	uint64_t	flag_size;		/* sizeof(JVMFlag) */
};

/**
 * vm_read - find the fields in the tables
 * @structs:	gHotSpotVMStructs
 * @types:	gHotSpotVMTypes
 * @vm:		filled
 * @missing:	set to a field or type that is missing
 *
 * Return: whether all are there.
 */
bool vm_read(const struct vm_table *structs, const struct vm_table *types,
	     struct vm *vm, const char **missing);

/* The same for the VM of this process, which has the function at @address. */
bool vm_find(const void *address, struct vm *vm, const char **missing);

/* A code heap: what is committed of it. */
struct vm_heap {
	uintptr_t	object;		/* CodeHeap */
	uintptr_t	low;
	uintptr_t	high;
};

#define VM_MAX_HEAPS	8

/* Returns how many heaps there are; 0 before the VM has made them. */
unsigned int vm_heaps(const struct vm *vm, struct vm_heap heaps[VM_MAX_HEAPS]);

/* A compiled method, as it was installed. Addresses are 0 where it has none. */
struct vm_method {
	uintptr_t	blob;
	uintptr_t	name;		/* of its kind, in the VM */
	uint32_t	compile_id;
	uint32_t	frame;		/* bytes */
	uintptr_t	begin;
	uintptr_t	end;
	uintptr_t	entry;
	uintptr_t	verified_entry;
	uintptr_t	osr_entry;
	uintptr_t	exception;
	uintptr_t	deopt;
	uintptr_t	stubs;
	uintptr_t	frame_complete;
	bool		is_native;	/* calls a native method */
};

/* The method with code at @pc; false if none is there or it makes no sense. */
bool vm_method(const struct vm *vm, uintptr_t pc, struct vm_method *method);

/* Whether that method is still there. */
bool vm_method_is(const struct vm *vm, const struct vm_method *method);

/* Where a walk through the blocks of all heaps is; 0 begins. */
struct vm_place {
	unsigned int	heap;
	uintptr_t	block;
};

/*
 * The next method of the kind with that name that calls of it lead to or, since
 * a moment ago, loops; false behind the last. Other threads may make and free blocks meanwhile: what they just
 * write may be missed, or lead to none behind it.
 */
bool vm_next_installed(const struct vm *vm, uintptr_t kind,
		       struct vm_place *place, struct vm_method *method);

/*
 * The method with its blob at @word, if it is one that vm_next_installed() finds.
 * @word may be anything.
 */
bool vm_installed(const struct vm *vm, uintptr_t kind, uintptr_t word,
		  struct vm_method *method);

/*
 * The method with its blob at @word, if that may be one of this kind, finished
 * or not. It is in its block.
 */
bool vm_made(const struct vm *vm, uintptr_t kind, uintptr_t word,
	     struct vm_method *method);

/* Whether all is the same that rows are made of, but for the code. */
bool vm_same(const struct vm_method *a, const struct vm_method *b);

/* Whether this is code of one block; events may have any @start and @length. */
bool vm_is_code(const struct vm *vm, uintptr_t start, size_t length);

/*
 * Whether the code is all of a buffer with that name, which compilers have for
 * code that they move elsewhere, and free.
 */
bool vm_is_buffer(const struct vm *vm, uintptr_t code, const char *name);

/* A part of the interpreter; @at 0 begins, false is behind the last. */
struct vm_codelet {
	uintptr_t	at;
	uintptr_t	begin;
	uintptr_t	end;
	const char	*name;
};

bool vm_next_codelet(const struct vm *vm, struct vm_codelet *codelet);

/* The value of a flag of the command line, to be read or written; or NULL. */
uint64_t *vm_flag(const struct vm *vm, const char *name);

#endif /* SFJIT_VM_H */
