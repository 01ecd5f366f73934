// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Why a file cannot be converted. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trouble.h"

int trouble_damaged(struct trouble *trouble, uint64_t offset,
		    const char *why, ...)
{
	size_t length;
	va_list args;

	length = snprintf(trouble->text, sizeof(trouble->text),
			  "damaged at offset 0x%" PRIx64 ": ", offset);
	va_start(args, why);
	vsnprintf(trouble->text + length, sizeof(trouble->text) - length, why,
		  args);
	va_end(args);
	return -EBADMSG;
}

int trouble_refused(struct trouble *trouble, const char *why, ...)
{
	va_list args;

	va_start(args, why);
	vsnprintf(trouble->text, sizeof(trouble->text), why, args);
	va_end(args);
	return -ENOTSUP;
}

int trouble_failed(struct trouble *trouble, const char *what, int error)
{
	snprintf(trouble->text, sizeof(trouble->text), "%s: %s", what,
		 strerror(-error));
	return error;
}
