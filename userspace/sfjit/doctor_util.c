// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "doctor.h"
#include "util.h"

static const char *format_text(const char *format, va_list args)
{
	char *text;

	return check_alloc(vasprintf(&text, format, args) < 0 ? NULL : text);
}

const char *doctor_text(const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = format_text(format, args);
	va_end(args);
	return text;
}

void doctor_say(struct doctor *doctor, const char *name,
		const struct doctor_advice *advice, const char *format, ...)
{
	struct doctor_finding *finding = &doctor->findings[doctor->nr++];
	va_list args;

	finding->name = name;
	if (advice)
		finding->advice = *advice;
	va_start(args, format);
	finding->fact = format_text(format, args);
	va_end(args);
}

long doctor_number(const char *file, long absent)
{
	FILE *f = fopen(file, "re");
	long value;

	if (!f)
		return absent;
	if (fscanf(f, "%ld", &value) != 1)
		value = absent;
	fclose(f);
	return value;
}
