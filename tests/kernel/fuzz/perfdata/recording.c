// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Any bytes as a recording. A converted one has nothing left to convert;
 * without memory, conversion fails. A convertible one can be explained, except
 * deferred call chains, and has as many ends as samples.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle.h"
#include "perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(void *arg, const char *line)
{
	REQUIRE(line[0]);
}

static int make_file(const void *data, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

/* Saves the ends and reads them again; -ENOMEM: an allocation failed. */
static int require_ends(struct perfdata_ends *ends, uint64_t samples)
{
	struct timespec changed = { 1, 2 };
	struct perfdata_ends again;
	uint64_t sum = ends->without + ends->complete;
	bool known = true;	/* the tracker here has other reasons, too */
	size_t i, length;
	char *text;
	int ret;
	FILE *file = open_memstream(&text, &length);

	for (i = 0; i < ends->nr; i++) {
		sum += ends->list[i].samples;
		known &= ends->list[i].why < SFJIT_STACKS_NR_ENDS;
	}
	REQUIRE(sum == ends->samples);
	REQUIRE(sum + ends->chains == samples);
	REQUIRE(file && !perfdata_ends_write(ends, 3, &changed, file));
	REQUIRE(!fclose(file));
	file = fmemopen(text, length, "r");
	REQUIRE(file);
	ret = perfdata_ends_read(&again, 3, &changed, file);
	REQUIRE(!ret || (ret == -ENOMEM && allocation_failed()) ||
		(ret == -EBADMSG && !known));
	fclose(file);
	free(text);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	REQUIRE(again.samples == sum && again.nr <= ends->nr);
	perfdata_ends_free(&again);
	return 0;
}

static int convert_to(int in, int out, struct perfdata_result *result)
{
	struct perfdata_options options = { .in = in, .out = out, .say = say };
	struct trouble trouble = { "" };
	struct perfdata_ends ends;
	int ret = perfdata_inject(&options, result, &ends, &trouble);

	REQUIRE(ret <= 0);
	REQUIRE(!ret == !trouble.text[0]);
	if (!ret) {
		ret = require_ends(&ends, result->samples);
		perfdata_ends_free(&ends);
	}
	return ret;
}

/* The descriptor of what it is then, or -errno. */
static int convert(int in, struct perfdata_result *result)
{
	int out = make_file(NULL, 0), ret = convert_to(in, out, result);

	if (!ret)
		return out;
	close(out);
	return ret;
}

/* What is no file gets the other form, and the same samples. */
static void require_piped(int in, uint64_t samples)
{
	struct perfdata_result result;
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);

	REQUIRE(out >= 0);
	REQUIRE(convert_to(in, out, &result) == -ENOTSUP ||
		result.samples == samples);
	close(out);
}

static void require_same(int a, int b, size_t size)
{
	uint8_t *left = malloc(size + 1), *right = malloc(size + 1);

	REQUIRE(left && right);
	REQUIRE(pread(a, left, size + 1, 0) == (ssize_t)size);
	REQUIRE(pread(b, right, size + 1, 0) == (ssize_t)size);
	REQUIRE(!memcmp(left, right, size));
	free(left);
	free(right);
}

/* Sections of a file may lie on each other, and be changed with them. */
static bool is_piped(const uint8_t *data, size_t size)
{
	return size >= 16 && data[8] == 16;
}

static void require_done(int out, uint64_t written)
{
	struct perfdata_result result;
	int again = convert(out, &result);

	REQUIRE(again >= 0 && !result.converted);
	require_same(out, again, written);
	close(again);
}

static void without_memory(int in, unsigned int nth)
{
	struct perfdata_result result;
	int out;

	fail_allocation(nth);
	out = convert(in, &result);
	REQUIRE(out < 0 || !allocation_failed());
	fail_allocation(0);
	if (out >= 0)
		close(out);
}

static bool explain(int in, uint64_t *samples)
{
	struct perfdata_options options = {
		.in = in, .say = say, .launcher = "a",
	};
	struct trouble trouble = { "" };
	struct perfdata_ends ends;
	uint64_t sum;
	size_t i;
	int ret = perfdata_explain(&options, &ends, &trouble);

	REQUIRE(ret <= 0);
	REQUIRE(!ret == !trouble.text[0]);
	if (ret)
		return false;
	sum = ends.without + ends.complete;
	for (i = 0; i < ends.nr; i++)
		sum += ends.list[i].samples;
	REQUIRE(sum == ends.samples);
	*samples = sum;
	perfdata_ends_free(&ends);
	return true;
}

static void explain_without_memory(int in, unsigned int nth)
{
	uint64_t samples;

	fail_allocation(nth);
	REQUIRE(!explain(in, &samples) || !allocation_failed());
	fail_allocation(0);
}

static void require_explained(int in, int out, uint64_t samples)
{
	uint64_t found;

	if (explain(in, &found) && out >= 0)
		REQUIRE(found == samples);
}

static bool mapped(void *arg, pid_t pid, uint64_t time,
		   const struct sfjit_stacks_mapping *mapping,
		   struct perfdata_build_id *own)
{
	*own = (struct perfdata_build_id){ .path = mapping->path, .length = 3 };
	return mapping->start & 0x1000;
}

static void opened(void *arg, pid_t pid,
		   const struct sfjit_stacks_mapping *mapping, int fd)
{
	REQUIRE(fd >= 0);
}

static bool next(void *arg, size_t i, struct perfdata_build_id *id)
{
	*id = (struct perfdata_build_id){
		.path = i ? "/a" : "[kernel.kallsyms]",
		.kernel = !i, .length = i == 1 ? 0 : 20,
	};
	return i < 3;
}

static const struct perfdata_files files = {
	.mapped = mapped, .opened = opened, .next = next,
};

/* As sfjit record does: what was piped becomes a file, with nothing to convert. */
static void require_recorded(int in)
{
	struct perfdata_options options = {
		.in = in, .out = make_file(NULL, 0), .say = say, .live = true,
		.files = &files,
	};
	struct trouble trouble = { "" };
	struct perfdata_result result;
	uint64_t samples;

	if (!perfdata_inject(&options, &result, NULL, &trouble) &&
	    explain(options.out, &samples)) {
		samples = result.samples;
		options.in = options.out;
		options.out = make_file(NULL, 0);
		REQUIRE(!perfdata_inject(&options, &result, NULL, &trouble));
		REQUIRE(result.samples == samples && !result.converted);
		close(options.in);
	}
	close(options.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = make_file(data, size), out;
	struct perfdata_result result;

	out = convert(in, &result);
	require_explained(in, out, result.samples);
	if (out >= 0 && is_piped(data, size))
		require_done(out, result.written);
	if (out >= 0) {
		require_piped(in, result.samples);
		close(out);
		if (is_piped(data, size))
			require_recorded(in);
	}
	if (size)
		without_memory(in, 1 + data[size - 1] % 24);
	if (size)
		explain_without_memory(in, 1 + data[size - 1] % 24);
	close(in);
	return 0;
}
