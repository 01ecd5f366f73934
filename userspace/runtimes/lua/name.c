// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Names of functions, in the handler.
 *
 * The name is the identity: a Proto may be freed and its address reused. Lua
 * functions have no names, so use their place in the source.
 */
#include <string.h>

#include "reader.h"

/* As in Lua's messages: LUA_IDSIZE. */
#define SOURCE_BYTES	60
#define NAME_BYTES	(SOURCE_BYTES + 64)

struct text {
	size_t	length;
	char	bytes[NAME_BYTES];
};

static void put_name_bytes(struct text *text, const char *bytes, size_t length)
{
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void put_string(struct text *text, const char *string)
{
	put_name_bytes(text, string, strlen(string));
}

static void put_number(struct text *text, unsigned int number)
{
	char digits[10];
	size_t at = sizeof(digits);

	do
		digits[--at] = '0' + number % 10;
	while (number /= 10);
	put_name_bytes(text, digits + at, sizeof(digits) - at);
}

/* Keep the last bytes of a long file name. */
static void put_file(struct text *text, const char *name, size_t length)
{
	if (length >= SOURCE_BYTES) {
		put_string(text, "...");
		name += length - (SOURCE_BYTES - 4);
		length = SOURCE_BYTES - 4;
	}
	put_name_bytes(text, name, length);
}

/* For a chunk loaded from a string, its first line. */
static void put_chunk(struct text *text, const char *chunk, size_t length)
{
	const char *end = memchr(chunk, '\n', length);
	size_t most = SOURCE_BYTES - sizeof("[string \"...\"]");
	size_t line = end ? (size_t)(end - chunk) : length;

	put_string(text, "[string \"");
	put_name_bytes(text, chunk, line < most ? line : most);
	put_string(text, end || line > most ? "...\"]" : "\"]");
}

#define PIECE	64
#define LONGEST	1024

/*
 * Reads a string to its end, to @size, or to an unreadable page. Returns 0 if
 * nothing could be read.
 */
static size_t read_string(char *to, uintptr_t from, size_t size)
{
	size_t done = 0, piece;
	const char *end;

	while (done < size) {
		piece = PIECE - (from + done) % PIECE;
		if (piece > size - done)
			piece = size - done;
		if (sfjit_assist_read(to + done, (void *)(from + done), piece))
			return 0;
		end = memchr(to + done, '\0', piece);
		if (end)
			return end - to;
		done += piece;
	}
	return done;
}

static bool put_source(struct text *text, uintptr_t from)
{
	char source[LONGEST];
	size_t length;

	/* A stripped function has no source. */
	if (!from) {
		put_string(text, "?");
		return true;
	}
	length = read_string(source, from, sizeof(source));
	if (!length)
		return false;
	if (*source == '@')
		put_file(text, source + 1, length - 1);
	else if (*source == '=')
		put_name_bytes(text, source + 1, length - 1 < SOURCE_BYTES ?
			       length - 1 : SOURCE_BYTES - 1);
	else
		put_chunk(text, source, length);
	return true;
}

static int copy(char *to, size_t size, void *data)
{
	const struct text *text = data;

	memcpy(to, text->bytes, text->length);
	return text->length;
}

/* An FNV-1a sum with its bits mixed, for two different values. */
static uint64_t sum(const struct text *text, uint64_t value)
{
	size_t i;

	for (i = 0; i < text->length; i++)
		value = (value ^ (unsigned char)text->bytes[i]) *
			0x100000001b3;
	value = (value ^ value >> 32) * 0xd6e8feb86659fd93;
	return value ^ value >> 32;
}

uint64_t lua_name(const struct lua_function *function)
{
	struct text text = { 0 };

	put_string(&text, function->line ? "lua::function:" : "lua::main:");
	if (!put_source(&text, function->source))
		return 0;
	put_string(&text, ":");
	put_number(&text, function->line);
	return sfjit_assist_name(sum(&text, 0xcbf29ce484222325),
				 sum(&text, 0x9e3779b97f4a7c15), copy, &text);
}
