// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Names like those of CPython's own perf trampolines, py::FUNCTION:FILE, from
 * strings that are read in a handler.
 */
#include <string.h>

#include "assist.h"

struct text {
	char *to;
	size_t left;
};

/* The characters of a string, of 1, 2 or 4 bytes each. */
struct string {
	const char *data;
	size_t length;
	unsigned int kind;
};

/* Cut a long name after a whole character. */
static void add_name_bytes(struct text *text, const char *bytes, size_t length)
{
	if (length > text->left) {
		text->left = 0;
		return;
	}
	memcpy(text->to, bytes, length);
	text->to += length;
	text->left -= length;
}

/* Names of undecodable files have lone surrogates: write \udc80. */
static size_t escape(char *to, uint32_t c)
{
	static const char digits[] = "0123456789abcdef";
	int i;

	to[0] = '\\';
	to[1] = 'u';
	for (i = 0; i < 4; i++)
		to[2 + i] = digits[c >> (12 - 4 * i) & 15];
	return 6;
}

static size_t encode(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = 0xc0 | c >> 6;
		to[1] = 0x80 | (c & 0x3f);
		return 2;
	}
	if (c >= 0xd800 && c < 0xe000)
		return escape(to, c);
	if (c < 0x10000) {
		to[0] = 0xe0 | c >> 12;
		to[1] = 0x80 | (c >> 6 & 0x3f);
		to[2] = 0x80 | (c & 0x3f);
		return 3;
	}
	to[0] = 0xf0 | c >> 18;
	to[1] = 0x80 | (c >> 12 & 0x3f);
	to[2] = 0x80 | (c >> 6 & 0x3f);
	to[3] = 0x80 | (c & 0x3f);
	return 4;
}

static uint32_t character(const char *data, unsigned int kind)
{
	uint16_t two;
	uint32_t four;

	if (kind == PyUnicode_1BYTE_KIND)
		return (unsigned char)*data;
	if (kind == PyUnicode_2BYTE_KIND) {
		memcpy(&two, data, sizeof(two));
		return two;
	}
	memcpy(&four, data, sizeof(four));
	return four;
}

static int add_characters(struct text *text, const char *data, size_t length,
			  unsigned int kind)
{
	char bytes[8];
	uint32_t c;

	for (; length; length--, data += kind) {
		c = character(data, kind);
		/* Not a valid character, so this is no string. */
		if (c > 0x10ffff)
			return -1;
		add_name_bytes(text, bytes, encode(bytes, c));
	}
	return 0;
}

static bool is_string_type(PyTypeObject *type)
{
	unsigned long flags;

	if (type == &PyUnicode_Type)
		return true;
	return !sfjit_assist_read(&flags, &type->tp_flags, sizeof(flags)) &&
	       flags & Py_TPFLAGS_UNICODE_SUBCLASS;
}

static int find_string_data(const PyObject *object, const PyASCIIObject *head,
			    const char **data)
{
	const PyUnicodeObject *full = (const void *)object;

	*data = (const char *)object;
	if (!head->state.compact)
		return sfjit_assist_read(data, &full->data, sizeof(*data));
	*data += head->state.ascii ? sizeof(PyASCIIObject) :
				     sizeof(PyCompactUnicodeObject);
	return 0;
}

static int find_string(const PyObject *object, struct string *string)
{
	PyASCIIObject head;

	if (sfjit_assist_read(&head, object, sizeof(head)))
		return -1;
	string->length = head.length;
	string->kind = head.state.kind;
	if (head.length < 0 || (string->kind != PyUnicode_1BYTE_KIND &&
				string->kind != PyUnicode_2BYTE_KIND &&
				string->kind != PyUnicode_4BYTE_KIND) ||
	    !is_string_type(head.ob_base.ob_type))
		return -1;
	return find_string_data(object, &head, &string->data);
}

static int add_string(struct text *text, const PyObject *object)
{
	struct string string;
	char bytes[256];
	size_t part;

	if (find_string(object, &string))
		return -1;
	while (string.length && text->left) {
		part = sizeof(bytes) / string.kind;
		if (part > string.length)
			part = string.length;
		if (sfjit_assist_read(bytes, string.data, part * string.kind) ||
		    add_characters(text, bytes, part, string.kind))
			return -1;
		string.data += part * string.kind;
		string.length -= part;
	}
	return 0;
}

int assist_write_name(char *buffer, size_t size, void *data)
{
	const struct assist_names *names = data;
	struct text text = { buffer, size };

	add_name_bytes(&text, "py::", 4);
	if (add_string(&text, names->function))
		return -1;
	add_name_bytes(&text, ":", 1);
	if (add_string(&text, names->file))
		return -1;
	return text.to - buffer;
}
