// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the header for programs without the library: its numbers are the
 * kernel's; windows come and go, or calls do nothing. Also valid C99 and C++11.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sfjit/client.h>
#include <sfjit/sframe.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "../lib/tap.h"
#ifdef __cplusplus
}
#endif

/* The bytes of a section of one function with one row: CFA = rsp + 8. */
static unsigned char section[52] = {
	0xe2, 0xde, 3, 0x5, 3, 0, (unsigned char)-8, 0,
	1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0,
	1, 0, 0, 0, 0, 0, 3, 8
};

/* A packed table of the same row, for any 4096 bytes of code. */
static unsigned char table[32 + 32 + 4 + 8] __attribute__((aligned(16))) = {
	0x53, 0x50, 1, 3, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	1, 0, 0, 0, 8, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff, 0, 0, 0, 0,
	1
};

static long lines_of(const char *what)
{
	char line[512];
	long number = -1;
	FILE *file = fopen("/proc/self/sframe", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, what, strlen(what)))
			sscanf(line + strlen(what), " %ld", &number);
	if (file)
		fclose(file);
	return number;
}

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *text = (unsigned char *)mmap(NULL, page,
		PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t key = (uintptr_t)text;
	int64_t distance = text - (section + 28);
	int there = sfjit_client_available();

	IS("register's number", SFJIT_CLIENT_REGISTER, PR_SFRAME_REGISTER);
	IS("unregister's", SFJIT_CLIENT_UNREGISTER, PR_SFRAME_UNREGISTER);
	IS("the query's", SFJIT_CLIENT_QUERY, PR_SFRAME_QUERY);
	IS("the flag", SFJIT_CLIENT_REPLACE, SFRAME_WINDOW_REPLACE);
	IS("the format of sections", SFJIT_CLIENT_V3, SFRAME_FORMAT_V3);
	IS("of packed tables", SFJIT_CLIENT_PACKED, SFRAME_FORMAT_PACKED);
	IS("size of options", sizeof(struct sfjit_client_opts),
	   SFRAME_WINDOW_OPTS_SIZE_VER0);
	memcpy(section + 28, &distance, sizeof(distance));
	IS("register", sfjit_client_register(key, section, sizeof(section),
					     text, page), 0);
	if (there)
		IS("one window", lines_of("windows"), 1);
	IS("twice", sfjit_client_register(key, section, sizeof(section), text,
					  page), there ? -EBUSY : 0);
	IS("overlap", sfjit_client_register(key + 1, section, sizeof(section),
					    text, page), there ? -EEXIST : 0);
	IS("replace", sfjit_client_replace(key, section, sizeof(section),
					   NULL, 0), 0);
	IS("replace another", sfjit_client_replace(key + 1, section,
		sizeof(section), text, page), there ? -ENOENT : 0);
	memcpy(table + 8, &key, sizeof(key));
	IS("replace by a table",
	   sfjit_client_replace(key, table, sizeof(table), NULL, 0), 0);
	if (there)
		IS("one window", lines_of("windows"), 1);
	IS("a table that is not aligned",
	   sfjit_client_replace(key, table + 1, sizeof(table) - 1, text, page),
	   there ? -EINVAL : 0);
	IS("unregister", sfjit_client_unregister(key), 0);
	IS("again", sfjit_client_unregister(key), there ? -ENOENT : 0);
	if (there)
		IS("no window", lines_of("windows"), 0);
	IS("no section", sfjit_client_register(key, NULL, 0, text, page),
	   there ? -EINVAL : 0);
	return finish();
}
