// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What Changes calls in C, and what calls it back, without frame pointers.
 */
#include <jni.h>

/* Not the last thing that it does, which would be a jump. */
static __attribute__((noinline)) jint call_back(JNIEnv *env, jclass class,
						jmethodID back, jint x)
{
	return (*env)->CallStaticIntMethod(env, class, back, x) + 1;
}

JNIEXPORT jint JNICALL Java_Changes_gDown(JNIEnv *env, jclass class, jint x)
{
	static jmethodID back;
	jint i;

	if (!back)
		back = (*env)->GetStaticMethodID(env, class, "gBack", "(I)I");
	for (i = 0; back && i < 3; i++)
		x = call_back(env, class, back, x);
	return x;
}
