// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A library with a frame pointer, a PLT entry and a large frame. */
int tiny_leaf(int x)
{
	return x * 3;
}

__attribute__((noinline, optimize("no-omit-frame-pointer")))
int tiny_frame(volatile int *x)
{
	volatile char room[200];

	room[*x] = 1;
	return room[3] + *x;
}

int tiny_caller(volatile int *x)
{
	int first = tiny_frame(x);

	return tiny_frame(x + 1) * first;
}
