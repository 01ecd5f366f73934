// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: NAME-replay [-n ITERATIONS] FILE|DIRECTORY...
 *
 * Runs the inputs, and then mutations of them that are the same each time:
 * without libFuzzer, for every compiler. The first finding ends the program.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_INPUTS	4096
#define MAX_SIZE	4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed) __attribute__((weak));

static struct input {
	uint8_t *data;
	size_t size;
} inputs[MAX_INPUTS];

static unsigned int nr_inputs;
static uint64_t state = 88172645463325252;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 20) % below;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	uint32_t n = 1 + rnd(4);

	if (size < max_size && rnd(4) == 0)
		data[size++] = rnd(256);
	else if (size > 1 && rnd(16) == 0)
		size--;
	for (; size && n; n--)
		data[rnd(size)] = rnd(2) ? rnd(256) : 1 << rnd(8);
	return size;
}

static size_t mutate(uint8_t *data, size_t size)
{
	if (LLVMFuzzerCustomMutator)
		return LLVMFuzzerCustomMutator(data, size, MAX_SIZE,
					       rnd(UINT32_MAX));
	return LLVMFuzzerMutate(data, size, MAX_SIZE);
}

/* An exact copy, so that ASan finds reads past its end. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void die(const char *path)
{
	perror(path);
	exit(2);
}

static void read_file(const char *path)
{
	struct input *input = &inputs[nr_inputs];
	FILE *f = fopen(path, "rb");

	if (!f || nr_inputs == MAX_INPUTS)
		die(path);
	input->data = malloc(MAX_SIZE);
	input->size = fread(input->data, 1, MAX_SIZE, f);
	nr_inputs++;
	fclose(f);
}

/* In the order of the names: a directory has none. */
static void read_path(const char *path)
{
	struct dirent **names;
	char file[4096];
	struct stat st;
	int i, nr;

	if (stat(path, &st))
		die(path);
	if (!S_ISDIR(st.st_mode)) {
		read_file(path);
		return;
	}
	nr = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < nr; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			read_file(file);
		free(names[i]);
	}
	free(names);
}

static void run_mutations(unsigned long iterations)
{
	uint8_t data[MAX_SIZE];
	struct input *input;
	size_t size;
	uint32_t n;

	while (iterations--) {
		input = &inputs[rnd(nr_inputs)];
		size = input->size;
		memcpy(data, input->data, size);
		for (n = 1 + rnd(3); n; n--)
			size = mutate(data, size);
		run(data, size);
	}
}

int main(int argc, char **argv)
{
	unsigned long iterations = 0;
	unsigned int i;
	int arg = 1;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		iterations = strtoul(argv[2], NULL, 0);
		arg = 3;
	}
	for (; arg < argc; arg++)
		read_path(argv[arg]);
	if (!nr_inputs) {
		fprintf(stderr, "%s: no input\n", argv[0]);
		return 2;
	}
	for (i = 0; i < nr_inputs; i++)
		run(inputs[i].data, inputs[i].size);
	run_mutations(iterations);
	printf("%u inputs, %lu mutations: no finding\n", nr_inputs, iterations);
	return 0;
}
