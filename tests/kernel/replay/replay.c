// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: replay-stacks CORPUS...
 *        replay-stacks --needs CORPUS
 *
 * Walks the stack of each sample again, by the kernel's code, and compares the
 * chain with the one that the kernel has stored: by packed tables of the rows that
 * were recorded, and by the sections that had them, if SFrame V3 can say what is
 * in these. With --needs it says what each walk, in the order of the file, has
 * needed:
 *
 *	same | other
 *	read FRAMES ADDRESS VALUE	a word, when the chain had FRAMES
 *	fault FRAMES ADDRESS		the same, but it was not there
 *	reg NAME			a register besides ip, sp and bp
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "corpus.h"
#include "table.h"

static struct {
	char name[256];
	bool sections;
	unsigned long samples, other;
	char why[64];			/* of the first other one */
} process;

static bool same_chain(const struct task_chain *a, const struct task_chain *b)
{
	return a->nr == b->nr && !memcmp(a->ip, b->ip, a->nr * sizeof(*a->ip));
}

static void say_process(void)
{
	char name[sizeof(process.name) + 16];

	if (!*process.name)
		return;
	snprintf(name, sizeof(name), "%s%s", process.name,
		 process.sections ? ", by sections" : "");
	if (process.sections && tables_with_addends())
		printf("# %s: not tried, %u with addends\n", name,
		       tables_with_addends());
	else
		result(!process.other, name,
		       "%lu of %lu samples have another chain, first: %s",
		       process.other, process.samples, process.why);
}

static void begin_process(const char *name)
{
	say_process();
	snprintf(process.name, sizeof(process.name), "%s", name);
	process.samples = 0;
	process.other = 0;
	tables_begin();
}

static void explain(const struct sample *sample, const struct task_chain *got)
{
	unsigned int i = 0;

	while (i < got->nr && i < sample->chain.nr &&
	       got->ip[i] == sample->chain.ip[i])
		i++;
	snprintf(process.why, sizeof(process.why),
		 "at %lx, frame %u of %u, not %u", sample->chain.ip[0], i,
		 sample->chain.nr, got->nr);
}

static void compare(const struct sample *sample)
{
	static struct task_chain chain;

	process.samples++;
	task_walk(&chain, sample->deferred);
	if (same_chain(&chain, &sample->chain))
		return;
	if (!process.other++)
		explain(sample, &chain);
}

static void say_read(const struct task_read *read)
{
	if (read->there)
		printf("read %x %lx %lx\n", read->frames, read->word.addr,
		       read->word.value);
	else
		printf("fault %x %lx\n", read->frames, read->word.addr);
}

static void say_reads(void)
{
	const struct task_read *reads;
	unsigned int i, nr;

	reads = task_reads(&nr);
	for (i = 0; i < nr; i++)
		say_read(&reads[i]);
}

/* Does the chain depend on it? */
static void try_reg(const struct sample *sample, unsigned int reg)
{
	static struct task_chain chain;
	unsigned long regs[TASK_NR_REGS];

	memcpy(regs, sample->regs, sizeof(regs));
	regs[reg] = 0;
	task_set_regs(regs);
	task_walk(&chain, sample->deferred);
	if (!same_chain(&chain, &sample->chain))
		printf("reg %s\n", reg_names[reg]);
}

static void say_needs(const struct sample *sample)
{
	static struct task_chain chain;
	unsigned int reg;
	bool same;

	task_walk(&chain, sample->deferred);
	same = same_chain(&chain, &sample->chain);
	puts(same ? "same" : "other");
	say_reads();
	for (reg = TASK_R15; same && reg <= TASK_DI; reg++)
		if (reg != TASK_BP)
			try_reg(sample, reg);
}

static void ignore_process(const char *name)
{
	tables_begin();
}

static void test(const char *path, bool sections)
{
	static const struct corpus_calls calls = { begin_process, compare };

	process.sections = sections;
	tables_are_sections(sections);
	corpus_read(path, &calls);
	say_process();
	*process.name = 0;
}

int main(int argc, char **argv)
{
	static const struct corpus_calls needs = { ignore_process, say_needs };
	int i;

	if (argc == 3 && !strcmp(argv[1], "--needs")) {
		not_the_test();
		task_step_one_by_one();
		corpus_read(argv[2], &needs);
		return 0;
	}
	for (i = 1; i < argc; i++) {
		test(argv[i], false);
		test(argv[i], true);
	}
	return finish();
}
