// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * refused HOW...: runs code in a window whose table is for no code, so that
 * the kernel refuses each walk there. Prints its process id and how many
 * refusals it has counted, and ends by "exit", "_exit" or "kill", after a
 * "thread" has ended. Several are done one after the other, each in a child.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sfjit/format.h>
#include <sfjit/packed.h>
#include <sfjit/sframe.h>

#define PAGE	4096

/* mov $ROUNDS, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char code[] = {
	0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0xc3,
};

static const struct sframe_packed_header header = {
	.magic = SFRAME_PACKED_MAGIC, .version = SFRAME_PACKED_VERSION,
	.abi_arch = SFRAME_ABI_AMD64_LE, .nr_rules = 1,
};

static void (*make_code(void))(void)
{
	unsigned char *text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .format = SFRAME_FORMAT_PACKED,
		.text_start = (uintptr_t)text, .text_length = PAGE,
	};

	if (text == MAP_FAILED)
		exit(1);
	memcpy(text, code, sizeof(code));
	memcpy(text + PAGE, &header, sizeof(header));
	if (mprotect(text, PAGE, PROT_READ | PROT_EXEC) ||
	    prctl(PR_SFRAME_REGISTER, 7, text + PAGE, 200, &opts)) {
		perror("PR_SFRAME_REGISTER");
		exit(1);
	}
	return (void (*)(void))text;
}

static void wait_for_the_first_to_end(void)
{
	char path[64], text[256], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	do {
		usleep(1000);
		file = fopen(path, "re");
		if (!file || !fgets(text, sizeof(text), file))
			exit(1);
		fclose(file);
		end = strrchr(text, ')');
	} while (!end || end[2] != 'Z');
}

/* The first thread's file is empty after it has exited. */
static uint64_t counted(void)
{
	uint64_t count = 0;
	char line[256];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%d/sframe", (int)syscall(SYS_gettid));
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "no_fde %" SCNu64, &count);
	if (file)
		fclose(file);
	return count;
}

static void *work(void *how)
{
	void (*run)(void) = make_code();
	int i;

	if (!strcmp(how, "thread"))
		wait_for_the_first_to_end();
	for (i = 0; i < 100000 && counted() < 3; i++)
		run();
	printf("%d %s %" PRIu64 "\n", getpid(), (char *)how, counted());
	fflush(stdout);
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	_exit(0);
}

static void end_by(char *how)
{
	pthread_t thread;

	if (strcmp(how, "thread"))
		work(how);
	if (pthread_create(&thread, NULL, work, how))
		exit(1);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc - 1; i++) {
		if (!fork())
			end_by(argv[i]);
		wait(NULL);
	}
	end_by(argv[argc - 1]);
}
