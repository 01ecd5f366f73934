// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code that runs all the time while its windows are replaced, or come and go,
 * and the bytes of old sections are used for something else at once. Each
 * callchain that starts in it is compared with the true stack.
 */
#include <stdio.h>

#include "race.h"

#define STACK_SIZE	(16 * SFT_PAGE)
#define SPIN_COUNT	600

/* Changes to the window of a function. */
enum kind { FIXED, REPLACED, TOGGLED, NR_KINDS };
/* Each kind has a function that calls and one that does not. */
enum { CALLER, CALLEE, NR_ROLES };

/**
 * struct function - a function and two places for its section or table
 * @text:	code
 * @spin:	what it was made from
 * @lengths:	of a section, and of a packed table
 * @places:	where they are
 * @images:	true bytes for each place and format
 * @poison:	bytes that lead to the fake return address
 * @window:	what is registered now
 */
struct function {
	__u8		*text;
	struct spin	spin;
	size_t		lengths[2];
	__u8		*places[2];
	__u8		images[2][2][SPIN_TABLE];
	__u8		poison[2][2][SPIN_TABLE];
	struct window	window;
};

static struct function functions[NR_KINDS][NR_ROLES];

/* Walks that were overtaken by two changes within a step, and others. */
static unsigned long overtaken, in_time;

/* Who is below whom on the stacks of the spinning threads. */
static const enum kind pairs[NR_SPINNERS][NR_ROLES] = {
	{ FIXED, REPLACED }, { REPLACED, FIXED }, { TOGGLED, FIXED },
};

/* ---- functions and their windows ----------------------------------------- */

static struct window window_of(const struct function *fn, unsigned int place,
			       bool packed)
{
	return (struct window){
		.start = (uintptr_t)fn->text,
		.end = (uintptr_t)fn->text + SPIN_SIZE,
		.key = (uintptr_t)fn->text,
		.section = (uintptr_t)fn->places[place],
		.length = fn->lengths[packed],
		.packed = packed,
	};
}

/* A section is of one place. */
static void fill_places(struct function *fn, __u8 *memory)
{
	unsigned int i;
	__u8 *at;

	for (i = 0; i < 2; i++) {
		at = fn->places[i] = memory + i * SPIN_TABLE;
		spin_poison(at, fn->text, &fn->spin);
		memcpy(fn->poison[i][false], at, SPIN_TABLE);
		fn->lengths[false] = spin_section(at, fn->text, &fn->spin);
		memcpy(fn->images[i][false], at, SPIN_TABLE);
		spin_table_poison(fn->poison[i][true], fn->text, &fn->spin);
		fn->lengths[true] = spin_table(fn->images[i][true], fn->text,
					       &fn->spin);
	}
}

static void fill_place(const struct function *fn, unsigned int place,
		       bool packed, bool poison)
{
	memcpy(fn->places[place], poison ? fn->poison[place][packed] :
					   fn->images[place][packed],
	       SPIN_TABLE);
}

static int init_function(struct function *fn, __u8 *text, __u8 *memory,
			 unsigned int nr)
{
	fn->text = text;
	spin_make(&fn->spin, 1 + nr % SPIN_WORDS, SPIN_COUNT,
		  nr % NR_ROLES == CALLER);
	memcpy(text, fn->spin.code, SPIN_SIZE);
	fill_places(fn, memory);
	fill_place(fn, 0, nr % 2, false);
	fn->window = window_of(fn, 0, nr % 2);
	return window_register(&fn->window, 0);
}

/* All texts touch: a search that goes wrong finds a neighbour's window. */
int swap_init(void)
{
	__u8 *text = sft_map(SFT_PAGE, SFT_RW | PROT_EXEC);
	__u8 *memory = sample_memory(SFT_PAGE);
	unsigned int i;
	int ret = 0;

	if (!text || !memory)
		return -ENOMEM;
	for (i = 0; i < NR_KINDS * NR_ROLES && !ret; i++)
		ret = init_function(&functions[i / NR_ROLES][i % NR_ROLES],
				    text + i * SPIN_SIZE,
				    memory + i * 2 * SPIN_TABLE, i);
	return ret;
}

unsigned int swap_windows(void)
{
	return NR_KINDS * NR_ROLES;
}

unsigned int swap_always(void)
{
	return TOGGLED * NR_ROLES;
}

unsigned long swap_start(unsigned int nr)
{
	return (uintptr_t)functions[nr / NR_ROLES][nr % NR_ROLES].text;
}

bool swap_owns(const struct window *window)
{
	unsigned int i;

	for (i = 0; i < NR_KINDS * NR_ROLES; i++)
		if (window_same(window, &functions[i / NR_ROLES]
						  [i % NR_ROLES].window))
			return true;
	return false;
}

/* ---- threads that change them -------------------------------------------- */

/* When the call has returned, the old section may be reused. */
static void replace(struct function *fn, unsigned int place, bool packed)
{
	struct window window = window_of(fn, place, packed);
	int ret;

	fill_place(fn, place, packed, false);
	ret = window_register(&window, SFRAME_WINDOW_REPLACE);
	fill_place(fn, !place, fn->window.packed, true);
	fn->window = window;
	check_that(&checks[CHECK_ERRNO], !ret, "replace of running code: %d",
		   ret);
}

void *replace_run(void *arg)
{
	uint64_t rng = rng_start(500);
	unsigned int place[NR_ROLES] = { 0 }, role;

	while (!race_over()) {
		role = rng_below(&rng, NR_ROLES);
		place[role] = !place[role];
		change_begin();
		replace(&functions[REPLACED][role], place[role],
			maybe_packed(&rng));
		change_end();
	}
	return NULL;
}

static void toggle(struct function *fn, bool packed)
{
	int ret = sft_unregister(fn->window.key);

	fill_place(fn, 0, fn->window.packed, true);
	check_that(&checks[CHECK_ERRNO], !ret, "unregister: %d", ret);
	usleep(1);
	fill_place(fn, 0, packed, false);
	fn->window = window_of(fn, 0, packed);
	ret = window_register(&fn->window, 0);
	check_that(&checks[CHECK_ERRNO], !ret, "register again: %d", ret);
}

void *toggle_run(void *arg)
{
	uint64_t rng = rng_start(600);

	while (!race_over()) {
		change_begin();
		toggle(&functions[TOGGLED][rng_below(&rng, NR_ROLES)],
		       maybe_packed(&rng));
		change_end();
	}
	return NULL;
}

/* ---- threads that run them ----------------------------------------------- */

struct pair {
	const struct function	*fn[NR_ROLES];
	enum kind		kind[NR_ROLES];
};

static bool in(const struct function *fn, __u64 ip)
{
	return ip - (uintptr_t)fn->text < fn->spin.size;
}

/* The true stack of a sample at @ip, without the callers of sft_inner. */
static unsigned int true_stack(const struct pair *pair, __u64 ip, __u64 *stack)
{
	unsigned int nr = 0;

	stack[nr++] = ip;
	if (in(pair->fn[CALLEE], ip))
		stack[nr++] = (uintptr_t)pair->fn[CALLER]->text +
			      pair->fn[CALLER]->spin.ret;
	stack[nr++] = SFT_CALLERS;
	return nr;
}

/* A walk ends in the window that is not there, or changed twice in a step. */
static bool ends_in(const struct pair *pair, const struct sft_chain *chain,
		    const __u64 *stack, enum kind kind)
{
	unsigned int last = chain->nr - 1;

	if (memcmp(chain->ip, stack, chain->nr * sizeof(*stack)))
		return false;
	return (in(pair->fn[CALLER], stack[last]) &&
		pair->kind[CALLER] == kind) ||
	       (in(pair->fn[CALLEE], stack[last]) &&
		pair->kind[CALLEE] == kind);
}

/* Without window, the frame pointer may still be that of the caller. */
static bool toggled_is(const struct pair *pair, const struct sft_chain *chain,
		       const __u64 *stack, unsigned int nr)
{
	const __u64 lost[] = { stack[0], SFT_LOST };

	return sft_chain_is(chain, stack, nr) ||
	       (chain->nr < nr && ends_in(pair, chain, stack, TOGGLED)) ||
	       (in(pair->fn[CALLER], stack[0]) && sft_chain_is(chain, lost, 2));
}

static bool has_fake(const struct sft_chain *chain)
{
	unsigned int i;

	for (i = 0; i < chain->nr; i++)
		if (chain->ip[i] == SPIN_FAKE)
			return true;
	return false;
}

static const char *show(const struct sft_chain *chain)
{
	static char text[200];
	unsigned int i, pos = 0;

	for (i = 0; i < chain->nr && pos < sizeof(text) - 20; i++)
		pos += snprintf(text + pos, sizeof(text) - pos, " %llx",
				chain->ip[i]);
	return text;
}

/* A walk that was overtaken twice in a step may end; swap_check() counts. */
static bool replaced_is(const struct pair *pair, const struct sft_chain *chain,
			const __u64 *stack, unsigned int nr)
{
	bool right = sft_chain_is(chain, stack, nr);

	if (right)
		in_time++;
	else if (chain->nr < nr && ends_in(pair, chain, stack, REPLACED))
		overtaken++;
	else
		return false;
	return true;
}

static void check_pair(const struct pair *pair, const struct sft_chain *chain,
		       bool defer)
{
	__u64 stack[3];
	unsigned int nr = true_stack(pair, chain->ip[0], stack);
	unsigned int check;
	bool right;

	if (pair->kind[CALLER] == TOGGLED) {
		check = CHECK_TOGGLED;
		right = toggled_is(pair, chain, stack, nr);
	} else if (pair->kind[CALLER] == REPLACED || nr == 3) {
		check = defer ? CHECK_REPLACED_DEFER : CHECK_REPLACED_FP;
		right = replaced_is(pair, chain, stack, nr);
	} else {
		check = defer ? CHECK_DEFER : CHECK_FP;
		right = sft_chain_is(chain, stack, nr);
	}
	check_that(&checks[check], right, "%s", show(chain));
}

static void check_sample(const struct sft_chain *chain, bool defer, void *arg)
{
	const struct pair *pair = arg;

	if (!chain->nr)
		return;
	check_that(&checks[CHECK_POISON], !has_fake(chain), "%s", show(chain));
	if (pair && (in(pair->fn[CALLER], chain->ip[0]) ||
		     in(pair->fn[CALLEE], chain->ip[0])))
		check_pair(pair, chain, defer);
}

static void run_pair(__u8 *stack, const struct pair *pair)
{
	const struct sft_call call = {
		.entry = pair->fn[CALLER]->text,
		.target = pair->fn[CALLEE]->text,
	};

	sft_enter(stack + STACK_SIZE, sft_outer, &call);
}

static struct pair make_pair(unsigned int nr)
{
	struct pair pair;
	unsigned int role;

	for (role = 0; role < NR_ROLES; role++) {
		pair.kind[role] = pairs[nr][role];
		pair.fn[role] = &functions[pair.kind[role]][role];
	}
	return pair;
}

void *spin_run(void *arg)
{
	static struct pair sampled[NR_SPINNERS];
	unsigned int nr = (uintptr_t)arg;
	__u8 *stack = sample_memory(STACK_SIZE);
	int ret;

	sampled[nr] = make_pair(nr);
	ret = sample_self(check_sample, &sampled[nr]);
	check_that(&checks[CHECK_RECORDS], stack && !ret,
		   "sampling a thread: %d", ret);
	while (stack && !race_over())
		run_pair(stack, &sampled[nr]);
	return NULL;
}

void spin_once(void)
{
	__u8 *stack = sft_map(STACK_SIZE, SFT_RW);
	struct pair pair = make_pair(0);

	if (!stack)
		return;
	run_pair(stack, &pair);
	munmap(stack, STACK_SIZE);
}

void swap_sample_other(void)
{
	int ret = sample_self(check_sample, NULL);

	check_that(&checks[CHECK_RECORDS], !ret, "sampling a thread: %d", ret);
}

static void print_stats(const struct sft_stats *stats)
{
	unsigned int i;

	printf("# refused steps by reason:");
	for (i = 0; i < stats->nr; i++)
		if (stats->reasons[i].refused)
			printf(" %s:%llu", stats->reasons[i].name,
			       stats->reasons[i].refused);
	printf("\n");
}

void swap_check(void)
{
	struct sft_stats stats;

	check_that(&checks[CHECK_RECORDS], !sft_stats(&stats),
		   "/proc/self/sframe");
	print_stats(&stats);
	printf("# %lu of %lu walks overtaken twice in a step\n", overtaken,
	       overtaken + in_time);
	check_that(&checks[CHECK_OVERTAKEN], overtaken <= in_time / 10,
		   "%lu of %lu", overtaken, overtaken + in_time);
	check_that(&checks[CHECK_OVERTAKEN],
		   !overtaken || sft_count(&stats, "changed"),
		   "%lu, but none counted", overtaken);
}
