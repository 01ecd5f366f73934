/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The VM's description of itself: the tables gHotSpotVMStructs and
 * gHotSpotVMTypes, which libjvm.so exports for debuggers.
 */
#ifndef SFJIT_VM_H
#define SFJIT_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table: its first entry, and the offsets of an entry's fields. */
struct vm_table {
	const char	*entries;
	uint64_t	stride;
	uint64_t	type_name;
	uint64_t	field_name;	/* of gHotSpotVMStructs, and so on */
	uint64_t	is_static;
	uint64_t	offset;
	uint64_t	address;
	uint64_t	size;		/* gHotSpotVMTypes only */
};

/* Offsets of fields, addresses of static fields, and sizes. */
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
	uint64_t	method_of;		/* Method of an nmethod */
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
	uint64_t	class_loops;		/* first OSR method */
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
 * @missing:	set to a missing field or type
 *
 * Return: whether all were found.
 */
bool vm_read(const struct vm_table *structs, const struct vm_table *types,
	     struct vm *vm, const char **missing);

/* The same for the VM of this process that has the function at @address. */
bool vm_find(const void *address, struct vm *vm, const char **missing);

/* The committed part of a code heap. */
struct vm_heap {
	uintptr_t	object;		/* CodeHeap */
	uintptr_t	low;
	uintptr_t	high;
};

#define VM_MAX_HEAPS	8

/* Returns the number of heaps; 0 before the VM has made them. */
unsigned int vm_heaps(const struct vm *vm, struct vm_heap heaps[VM_MAX_HEAPS]);

/* A compiled method. Addresses are 0 where it has none. */
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

/*
 * Reads the method with code at @pc. Returns false if there is none or if it is
 * implausible.
 */
bool vm_method(const struct vm *vm, uintptr_t pc, struct vm_method *method);

/* Whether the method still exists. */
bool vm_method_is(const struct vm *vm, const struct vm_method *method);

/* Position of a walk through the blocks of all heaps; starts at 0. */
struct vm_place {
	unsigned int	heap;
	uintptr_t	block;
};

/*
 * Finds the next method of this kind that calls or, recently, loops can enter.
 * Returns false at the end. Other threads may create and free blocks meanwhile:
 * their latest writes may be missed, or end the walk of a heap early.
 */
bool vm_next_installed(const struct vm *vm, uintptr_t kind,
		       struct vm_place *place, struct vm_method *method);

/*
 * Reads the method with its blob at @word, if vm_next_installed() would find
 * it. @word may be anything.
 */
bool vm_installed(const struct vm *vm, uintptr_t kind, uintptr_t word,
		  struct vm_method *method);

/*
 * Reads the method with its blob at @word, if that looks like one of this kind,
 * even unfinished. It lies inside its block.
 */
bool vm_made(const struct vm *vm, uintptr_t kind, uintptr_t word,
	     struct vm_method *method);

/* Whether everything that rows depend on is equal, except the code. */
bool vm_same(const struct vm_method *a, const struct vm_method *b);

/* Whether this is code of one block; events may have any @start and @length. */
bool vm_is_code(const struct vm *vm, uintptr_t start, size_t length);

/*
 * Whether the code fills a buffer of that name. Compilers have such buffers for
 * code that they move elsewhere.
 */
bool vm_is_buffer(const struct vm *vm, uintptr_t code, const char *name);

/* A part of the interpreter. Start with @at 0; returns false at the end. */
struct vm_codelet {
	uintptr_t	at;
	uintptr_t	begin;
	uintptr_t	end;
	const char	*name;
};

bool vm_next_codelet(const struct vm *vm, struct vm_codelet *codelet);

/* Returns a flag of the command line, to read or write, or NULL. */
uint64_t *vm_flag(const struct vm *vm, const char *name);

#endif /* SFJIT_VM_H */
