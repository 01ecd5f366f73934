// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <stdint.h>

#include "json.h"
#include "printable.h"

void json_put_string(const char *text, FILE *out)
{
	char bytes[4];
	uint32_t c;

	if (!text) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	while ((c = printable_next(&text))) {
		if (c == '"' || c == '\\')
			fputc('\\', out);
		fwrite(bytes, printable_put(c, bytes), 1, out);
	}
	fputc('"', out);
}
