// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A library with more static thread-local storage than ld.so keeps in reserve:
 * it can be loaded at start only, and only where it comes before the reserve.
 */
static __thread char storage[65536]
	__attribute__((tls_model("initial-exec"))) = { 1 };

int plugin_number(void);
int plugin_number(void)
{
	storage[65535]++;
	return storage[0] + storage[65535];
}
