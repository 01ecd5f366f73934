// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: numbers of the JVM tool interface are those of a JDK's header.
 */
#include "../../lib/tap.h"

#include "../../userspace/runtimes/hotspot/jvmti.h"

#if __has_include(<jvmti.h>) && defined(JDK)
#include <jvmti.h>
#include <stddef.h>

#define FUNCTION(number, name) \
	IS(#name, number, offsetof(struct jvmtiInterface_1_, name) / \
	   sizeof(void *) + 1)
#define EVENT(number, event, name) do { \
	IS(#event, number, event); \
	IS(#name, (number) - TI_FIRST_EVENT, offsetof(jvmtiEventCallbacks, \
	   name) / sizeof(void *)); \
} while (0)

#define CAPABILITY(number, name) do { \
	union { jvmtiCapabilities can; uint32_t bits[4]; } u = { \
		.can.name = 1 }; \
	IS(#name, u.bits[(number) / 32], 1u << (number) % 32); \
} while (0)

int main(void)
{
	FUNCTION(TI_SET_EVENT_MODE, SetEventNotificationMode);
	FUNCTION(TI_DEALLOCATE, Deallocate);
	FUNCTION(TI_GET_CLASS_SIGNATURE, GetClassSignature);
	FUNCTION(TI_GET_METHOD_NAME, GetMethodName);
	FUNCTION(TI_GET_METHOD_CLASS, GetMethodDeclaringClass);
	FUNCTION(TI_SET_CALLBACKS, SetEventCallbacks);
	FUNCTION(TI_GENERATE_EVENTS, GenerateEvents);
	FUNCTION(TI_ADD_CAPABILITIES, AddCapabilities);
	EVENT(TI_VM_INIT, JVMTI_EVENT_VM_INIT, VMInit);
	EVENT(TI_VM_DEATH, JVMTI_EVENT_VM_DEATH, VMDeath);
	EVENT(TI_VM_START, JVMTI_EVENT_VM_START, VMStart);
	EVENT(TI_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_LOAD,
	      CompiledMethodLoad);
	EVENT(TI_METHOD_UNLOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
	      CompiledMethodUnload);
	EVENT(TI_DYNAMIC_CODE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
	      DynamicCodeGenerated);
	EVENT(TI_GC_FINISH, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
	      GarbageCollectionFinish);
	CAPABILITY(TI_CAN_METHOD_LOAD,
		   can_generate_compiled_method_load_events);
	CAPABILITY(TI_CAN_GC, can_generate_garbage_collection_events);
	CAPABILITY(TI_CAN_EARLY_START, can_generate_early_vmstart);
	IS("capabilities", sizeof(struct ti_capabilities),
	   sizeof(jvmtiCapabilities));
	IS("GetEnv", TI_GET_ENV, offsetof(struct JNIInvokeInterface_, GetEnv) /
	   sizeof(void *));
	IS("version", TI_VERSION, JVMTI_VERSION_1_2);
	return finish();
}
#else
int main(void)
{
	return skip_all("numbers", "no header of a JDK here");
}
#endif
