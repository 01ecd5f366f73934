// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: inject-mutate FILE...
 *
 * Converts and explains each recording truncated at each byte, and with each
 * byte changed. It must always end, and failures must have a reason.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "format.h"
#include "perfdata.h"

static unsigned long converted, failed;
static const char *wrong;

static void say(void *arg, const char *line)
{
}

static void explain(int in)
{
	struct perfdata_options options = { .in = in, .say = say };
	struct trouble trouble = { "" };
	struct perfdata_ends ends;
	int ret = perfdata_explain(&options, &ends, &trouble);

	if (ret > 0 || (ret && !trouble.text[0]))
		wrong = "explained: its result or what it says of that";
	if (!ret)
		perfdata_ends_free(&ends);
}

static void convert(const uint8_t *data, size_t length)
{
	struct perfdata_options options = { .say = say };
	struct perfdata_result done;
	struct trouble trouble = { "" };
	int ret;

	options.in = memfd_create("in", MFD_CLOEXEC);
	options.out = memfd_create("out", MFD_CLOEXEC);
	MUST(options.in >= 0 && options.out >= 0);
	MUST(write(options.in, data, length) == (ssize_t)length);
	MUST(!lseek(options.in, 0, SEEK_SET));
	ret = perfdata_inject(&options, &done, NULL, &trouble);
	if (ret > 0 || (ret && !trouble.text[0]))
		wrong = "its result or what it says of that";
	failed += ret != 0;
	converted += !ret;
	MUST(!lseek(options.in, 0, SEEK_SET));
	explain(options.in);
	close(options.in);
	close(options.out);
}

static void cut(const uint8_t *data, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		convert(data, i);
}

static void change(uint8_t *data, size_t length)
{
	static const uint8_t by[] = { 0x01, 0x80, 0xff };
	size_t i, j;

	for (i = 0; i < length; i++)
		for (j = 0; j < sizeof(by); j++) {
			data[i] ^= by[j];
			convert(data, length);
			data[i] ^= by[j];
		}
}

static void mutate(const char *path)
{
	int fd = open(path, O_RDONLY);
	uint8_t *data;
	struct stat st;

	MUST(fd >= 0 && !fstat(fd, &st));
	data = malloc(st.st_size);
	MUST(data && read(fd, data, st.st_size) == st.st_size);
	close(fd);
	convert(data, st.st_size);
	result(converted == 1 && !failed, path, "it is not converted as it is");
	cut(data, st.st_size);
	/*
	 * Without the header it is not a recording; without some events it is.
	 */
	result(!wrong && failed >= PIPE_HEADER_SIZE &&
	       failed < (unsigned long)st.st_size / 2, path,
	       "cut off: %s, %lu of %lu failed", wrong ? wrong : "-", failed,
	       (unsigned long)st.st_size);
	change(data, st.st_size);
	result(!wrong && converted > 1, path, "changed: %s, %lu converted",
	       wrong ? wrong : "-", converted);
	converted = failed = 0;
	free(data);
}

int main(int argc, char **argv)
{
	for (argv++; *argv; argv++)
		mutate(*argv);
	return finish();
}
