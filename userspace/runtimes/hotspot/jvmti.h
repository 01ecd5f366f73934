/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The parts of the JVM tool interface that the agent uses, so that building it
 * needs no JDK. The specification fixes the numbers of functions, events and
 * capabilities. tests/runtimes/hotspot/abi.c compares them with a JDK's header.
 */
#ifndef SFJIT_JVMTI_H
#define SFJIT_JVMTI_H

#include <stdint.h>

#define TI_VERSION		0x30010200

/* JNI's table of a VM; GetEnv is the seventh entry. */
typedef void *const *ti_vm;
#define TI_GET_ENV		6

/* Numbers of functions, counted from 1. */
#define TI_SET_EVENT_MODE	2
#define TI_DEALLOCATE		47
#define TI_GET_CLASS_SIGNATURE	48
#define TI_GET_METHOD_NAME	64
#define TI_GET_METHOD_CLASS	65
#define TI_SET_CALLBACKS	122
#define TI_GENERATE_EVENTS	123
#define TI_ADD_CAPABILITIES	142

/* Numbers of events; the table of callbacks begins with the first. */
#define TI_FIRST_EVENT		50
#define TI_VM_INIT		50
#define TI_VM_DEATH		51
#define TI_VM_START		57
#define TI_METHOD_LOAD		68
#define TI_METHOD_UNLOAD	69
#define TI_DYNAMIC_CODE		70
#define TI_GC_FINISH		82
#define TI_LAST_EVENT		82

/* Bits of the capabilities. */
#define TI_CAN_METHOD_LOAD	27
#define TI_CAN_GC		31
#define TI_CAN_EARLY_START	41

typedef void *const *const *ti_env;
typedef int32_t ti_error;

struct ti_capabilities {
	uint32_t	bits[4];
};

struct ti_callbacks {
	void	(*of[TI_LAST_EVENT - TI_FIRST_EVENT + 1])(void);
};

/* The function of a number, cast to its type. */
#define TI(env, number, ...) \
	((ti_error (*)(ti_env, __VA_ARGS__))(*(env))[(number) - 1])

#endif /* SFJIT_JVMTI_H */
