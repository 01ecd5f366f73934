// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"

#define MAX_WORDS	16	/* of one step; a signal frame has 11 */

#define USER_CS		0x33

const char *const reg_names[TASK_NR_REGS] = {
	"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax",
	"cx", "dx", "si", "di", "orig_ax", "ip", "cs", "flags", "sp", "ss",
};

struct frame {
	unsigned long ip;
	struct task_word words[MAX_WORDS];
	unsigned int nr_words;
};

static struct reader {
	const char *path;
	unsigned long line;
	char *rest;			/* of the line */
	unsigned long bases[26];
	struct frame frames[TASK_MAX_CHAIN];	/* by depth */
	unsigned int depth;
	unsigned char *sections[TASK_MAX_WINDOWS];
	unsigned int nr_sections;
	unsigned char *stack;
	unsigned long stack_addr, stack_size;
} reader;

static void __attribute__((noreturn)) bad(const char *what)
{
	fprintf(stderr, "%s:%lu: %s\n", reader.path, reader.line, what);
	exit(2);
}

/* The next word of the line, or NULL. */
static char *next(void)
{
	char *word = strsep(&reader.rest, " ");

	return word && *word ? word : NULL;
}

static char *need(void)
{
	char *word = next();

	if (!word)
		bad("a word is missing");
	return word;
}

static unsigned long number(const char *word)
{
	unsigned long base = 0, value;
	char *end;

	if (*word >= 'g' && *word <= 'z')
		base = reader.bases[*word++ - 'a'];
	value = strtoul(word, &end, 16);
	if (!isxdigit(*word) || *end)
		bad("not a number");
	return base + value;
}

static unsigned char digit(char c)
{
	if (!isxdigit(c))
		bad("not hexadecimal");
	return isdigit(c) ? c - '0' : (c | 32) - 'a' + 10;
}

static unsigned char *bytes(unsigned long *size)
{
	const char *digits = need();
	unsigned char *data;
	unsigned long i;

	*size = strlen(digits) / 2;
	data = malloc(*size + 1);
	if (!data)
		bad("no memory");
	for (i = 0; i < *size; i++)
		data[i] = digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]);
	return data;
}

static void read_base(void)
{
	const char *letter = need();

	if (*letter < 'g' || *letter > 'z' || letter[1])
		bad("no letter from g to z");
	reader.bases[*letter - 'a'] = number(need());
}

/* The process before has no more windows: their sections can go. */
static void free_sections(void)
{
	while (reader.nr_sections)
		free(reader.sections[--reader.nr_sections]);
}

static void read_window(void)
{
	struct task_window window;

	if (reader.nr_sections == TASK_MAX_WINDOWS)
		bad("too many windows");
	window = (struct task_window) {
		.text_start = number(need()),
		.text_end = number(need()),
		.addr = number(need()),
	};
	if (strcmp(need(), "fixed"))
		bad("no such window");
	window.bytes = bytes(&window.length);
	reader.sections[reader.nr_sections++] = window.bytes;
	if (task_add_window(&window))
		bad("the window is refused");
}

static void read_stack(void)
{
	free(reader.stack);
	reader.stack_addr = number(need());
	reader.stack = bytes(&reader.stack_size);
}

static void read_word(struct frame *frame, char *word)
{
	struct task_word *to = &frame->words[frame->nr_words++];
	char *addr = strsep(&word, "=");

	if (frame->nr_words > MAX_WORDS || (!word && !reader.depth))
		bad("a word too many");
	to->addr = number(addr);
	to->value = word ? number(word) : frame[-1].ip;
}

static void read_frame(void)
{
	struct frame *frame;
	char *word;

	reader.depth = number(need());
	if (reader.depth >= TASK_MAX_CHAIN)
		bad("too deep");
	frame = &reader.frames[reader.depth];
	frame->ip = number(need());
	frame->nr_words = 0;
	while ((word = next()))
		read_word(frame, word);
}

static void set_memory(void)
{
	static struct task_word words[TASK_MAX_CHAIN * MAX_WORDS];
	unsigned int i, nr = 0;

	for (i = 0; i <= reader.depth; i++) {
		const struct frame *frame = &reader.frames[i];

		memcpy(words + nr, frame->words,
		       frame->nr_words * sizeof(*words));
		nr += frame->nr_words;
	}
	task_set_memory(words, nr, reader.stack, reader.stack_addr,
			reader.stack_size);
}

static void read_reg(unsigned long *regs, char *word)
{
	const char *name = strsep(&word, "=");
	unsigned int i;

	for (i = 0; i < TASK_NR_REGS; i++)
		if (word && !strcmp(name, reg_names[i])) {
			regs[i] = number(word);
			return;
		}
	bad("no register");
}

static void read_sample(const struct corpus_calls *calls, bool deferred)
{
	static struct sample sample;
	unsigned int depth = reader.depth;
	char *word;

	memset(&sample, 0, sizeof(sample));
	sample.deferred = deferred;
	do
		sample.chain.ip[sample.chain.nr++] = reader.frames[depth].ip;
	while (depth--);
	sample.regs[TASK_CS] = USER_CS;
	sample.regs[TASK_IP] = sample.chain.ip[0];
	sample.regs[TASK_SP] = number(need());
	sample.regs[TASK_BP] = number(need());
	while ((word = next()))
		read_reg(sample.regs, word);
	set_memory();
	task_set_regs(sample.regs);
	calls->sample(&sample);
}

static void read_process(const struct corpus_calls *calls)
{
	free_sections();
	free(reader.stack);
	reader.stack = NULL;
	reader.stack_size = 0;
	reader.depth = 0;
	task_init();
	calls->process(reader.rest);
}

static void read_line(const struct corpus_calls *calls, char *line)
{
	const char *kind;

	reader.rest = line;
	kind = need();
	if (!strcmp(kind, "process"))
		read_process(calls);
	else if (!strcmp(kind, "base"))
		read_base();
	else if (!strcmp(kind, "window"))
		read_window();
	else if (!strcmp(kind, "stack"))
		read_stack();
	else if (!strcmp(kind, "f"))
		read_frame();
	else if (!strcmp(kind, "s") || !strcmp(kind, "d"))
		read_sample(calls, *kind == 'd');
	else
		bad("an unknown line");
}

void corpus_read(const char *path, const struct corpus_calls *calls)
{
	size_t room = 0;
	char *line = NULL;
	ssize_t length;
	FILE *f;

	reader.path = path;
	reader.line = 0;
	f = fopen(path, "r");
	if (!f)
		bad("cannot be read");
	while ((length = getline(&line, &room, f)) > 0) {
		reader.line++;
		if (line[length - 1] != '\n')
			bad("the line has no end");
		line[length - 1] = 0;
		if (*line != '#')
			read_line(calls, line);
	}
	free(line);
	fclose(f);
}
