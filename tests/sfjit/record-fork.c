// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: record-fork PROGRAM
 *
 * A program with known stacks, whose child continues as PROGRAM: before(),
 * in_parent() and in_child() call work() for equal times. Prints the child's
 * process id.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned int sink;

/* Not inlined; no call is in tail position. */
#define FUNCTION	__attribute__((noipa))

static double used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

FUNCTION static void work(void)
{
	unsigned int i;

	for (i = 0; i < 200000; i++)
		sink += i;
}

FUNCTION static void before(void)
{
	volatile char room[200];
	double end = used() + 0.5;

	room[0] = 1;
	while (used() < end)
		work();
	sink += room[0];
}

FUNCTION static void in_parent(void)
{
	volatile char room[100];
	double end = used() + 0.5;

	room[0] = 1;
	while (used() < end)
		work();
	sink += room[0];
}

FUNCTION static unsigned int in_child(unsigned int a, unsigned int b)
{
	double end = used() + 0.5;

	while (used() < end)
		work();
	return a * b;
}

FUNCTION static int launch(char **program)
{
	int status = 1;
	pid_t child = fork();

	if (child < 0)
		return 1;
	if (!child) {
		sink += in_child(sink, 3);
		execv(program[0], program);
		_exit(1);
	}
	printf("child %d\n", child);
	in_parent();
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 2)
		return 1;
	before();
	status = launch(argv + 1);
	sink++;
	return status != 0;
}
