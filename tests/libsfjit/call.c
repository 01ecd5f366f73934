// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: calls through each kind of trampoline pass arguments and
 * results of every class, keep the registers the ABI says, align the stack.
 */
#include <complex.h>
#include <stdarg.h>

#include "test.h"

struct pair { long a, b; };
struct mixed { double d; long l; };
struct large { long words[5]; };

static struct sfjit_pool *pools[3];
static long seen[8];

static void *tramp(unsigned int kind, const void *target)
{
	void *entry;

	MUST(!sfjit_tramp_get(pools[kind], target, NULL, &entry));
	return entry;
}

static bool is_aligned(void)
{
	return !((uintptr_t)__builtin_frame_address(0) & 15);
}

/* ---- Targets --------------------------------------------------------- */

static long six(long a, long b, long c, long d, long e, long f)
{
	seen[0] = a, seen[1] = b, seen[2] = c;
	seen[3] = d, seen[4] = e, seen[5] = f;
	seen[6] = is_aligned();
	return 0x1122334455667788;
}

static double eight_doubles(double a, double b, double c, double d,
			    double e, double f, double g, double h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static float one_float(float a)
{
	return a / 2;
}

static long double one_long_double(long a)
{
	return a / 4.0L;
}

static double complex one_complex(double complex a)
{
	return conj(a);
}

static struct pair two_words(struct pair p)
{
	return (struct pair) { p.b, p.a };
}

static struct mixed two_classes(struct mixed m)
{
	return (struct mixed) { -m.d, -m.l };
}

static struct large in_memory(long start)
{
	return (struct large) { { start, start + 1, start + 2, start + 3,
				  start + 4 } };
}

static __int128 wide(__int128 a)
{
	return a * 3;
}

/* Sums @n arguments, doubles and longs alternating. */
static double sum(int n, ...)
{
	double total = 0;
	va_list args;
	int i;

	va_start(args, n);
	for (i = 0; i < n; i++)
		total += i % 2 ? va_arg(args, long) : va_arg(args, double);
	va_end(args);
	return total;
}

/* ---- One test per kind ----------------------------------------------- */

static void test_slot_words(void)
{
	long (*f)(long, long, long, long, long, long) =
		tramp(SFJIT_TRAMP_SLOT, six);

	IS("slot: result", f(1, -2, 3, -4, 5, -6), 0x1122334455667788);
	IS("slot: first argument", seen[0], 1);
	IS("slot: second argument", seen[1], -2);
	IS("slot: third argument", seen[2], 3);
	IS("slot: fourth argument", seen[3], -4);
	IS("slot: fifth argument", seen[4], 5);
	IS("slot: sixth argument", seen[5], -6);
	IS("slot: stack is aligned", seen[6], 1);
}

static void test_slot_floats(void)
{
	double (*f)(double, double, double, double, double, double, double,
		    double) = tramp(SFJIT_TRAMP_SLOT, eight_doubles);
	float (*g)(float) = tramp(SFJIT_TRAMP_SLOT, one_float);
	long double (*h)(long) = tramp(SFJIT_TRAMP_SLOT, one_long_double);
	double complex (*c)(double complex) =
		tramp(SFJIT_TRAMP_SLOT, one_complex);

	TRUE("slot: eight doubles", f(1, 2, 3, 4, 5, 6, 7, 8) == 204.0);
	TRUE("slot: float", g(3) == 1.5f);
	TRUE("slot: long double", h(3) == 0.75L);
	TRUE("slot: complex", c(1 + 2 * I) == 1 - 2 * I);
}

static void test_slot_structs(void)
{
	struct pair (*f)(struct pair) = tramp(SFJIT_TRAMP_SLOT, two_words);
	struct mixed (*g)(struct mixed) = tramp(SFJIT_TRAMP_SLOT, two_classes);
	struct large (*h)(long) = tramp(SFJIT_TRAMP_SLOT, in_memory);
	__int128 (*w)(__int128) = tramp(SFJIT_TRAMP_SLOT, wide);
	struct pair p = f((struct pair) { 7, 9 });
	struct mixed m = g((struct mixed) { 0.5, 11 });
	struct large l = h(100);

	TRUE("slot: struct of two words", p.a == 9 && p.b == 7);
	TRUE("slot: struct of two classes", m.d == -0.5 && m.l == -11);
	TRUE("slot: struct in memory", l.words[0] == 100 && l.words[4] == 104);
	TRUE("slot: 128 bits",
	     w(((__int128)1 << 100) + 1) == 3 * (((__int128)1 << 100) + 1));
}

static void test_slot_varargs(void)
{
	double (*f)(int, ...) = tramp(SFJIT_TRAMP_SLOT, sum);

	TRUE("slot: variable arguments",
	     f(6, 0.5, 1L, 1.5, 2L, 2.5, 3L) == 10.5);
}

static void test_words(unsigned int kind, const char *name, const char *align)
{
	long (*f)(long, long, long, long, long, const void *) =
		tramp(kind, NULL);

	memset(seen, 0, sizeof(seen));
	TRUE(name, f(1, -2, 3, -4, 5, six) == 0x1122334455667788 &&
	     seen[0] == 1 && seen[1] == -2 && seen[2] == 3 && seen[3] == -4 &&
	     seen[4] == 5 && seen[5] == (long)six);
	IS(align, seen[6], 1);
}

static void test_mixed(unsigned int kind, const char *name)
{
	double (*f)(double, double, double, double, double, double, double,
		    double, long, long, long, long, long, const void *) =
		tramp(kind, NULL);
	struct large (*g)(long, long, long, long, const void *) =
		tramp(kind, NULL);
	struct large l;

	/*
	 * The hidden pointer to the result is the first argument, so the target
	 * is the sixth integer argument.
	 */
	l = g(100, 0, 0, 0, in_memory);
	TRUE(name, f(1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, eight_doubles) ==
	     204.0 && l.words[0] == 100 && l.words[4] == 104);
}

static void test_varargs(unsigned int kind, const char *name)
{
	double (*f)(int, ...) = tramp(kind, NULL);

	TRUE(name, f(4, 0.5, 1L, 1.5, 2L, 0L, 0L, sum) == 5.0);
}

/* In saved-registers.S: the number of callee-saved registers that changed. */
long changed_registers(const void *entry, const void *target);

static void target_that_uses_registers(void)
{
	asm volatile("" : : : "rbx", "r12", "r13", "r14", "r15", "memory");
}

static void test_registers(unsigned int kind, const char *name)
{
	IS(name, changed_registers(tramp(kind, target_that_uses_registers),
				   target_that_uses_registers), 0);
}

int main(void)
{
	unsigned int kind;

	for (kind = 0; kind < 3; kind++)
		MUST(!sfjit_pool_create(kind, &pools[kind]));
	test_slot_words();
	test_slot_floats();
	test_slot_structs();
	test_slot_varargs();
	test_words(SFJIT_TRAMP_ARG, "arg: words", "arg: stack is aligned");
	test_words(SFJIT_TRAMP_RBP, "rbp: words", "rbp: stack is aligned");
	test_mixed(SFJIT_TRAMP_ARG, "arg: doubles and large result");
	test_mixed(SFJIT_TRAMP_RBP, "rbp: doubles and large result");
	test_varargs(SFJIT_TRAMP_ARG, "arg: variable arguments");
	test_varargs(SFJIT_TRAMP_RBP, "rbp: variable arguments");
	test_registers(SFJIT_TRAMP_ARG, "arg: kept registers");
	test_registers(SFJIT_TRAMP_SLOT, "slot: kept registers");
	test_registers(SFJIT_TRAMP_RBP, "rbp: kept registers");
	for (kind = 0; kind < 3; kind++)
		IS("retire", sfjit_pool_retire(pools[kind]), 0);
	return finish();
}
