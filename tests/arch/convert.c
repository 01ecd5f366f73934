// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * convert ABI ADDRESS CFI SECTION: writes the section for the .eh_frame of a
 * file, which is linked for an address.
 */
#include <stdio.h>
#include <stdlib.h>

#include <sframegen.h>

static unsigned char cfi[8 << 20];

static int write_section(const char *path, const struct sfg_output *out)
{
	FILE *file = fopen(path, "w");

	return !file || fwrite(out->data, out->len, 1, file) != 1 ||
	       fclose(file);
}

int main(int argc, char **argv)
{
	struct sfg_input in = { .flags = SFG_INPUT_ADDENDS };
	struct sfg_error err = { 0 };
	struct sfg_output out;
	FILE *file;
	int ret;

	if (argc != 5)
		return 2;
	file = fopen(argv[3], "r");
	if (!file)
		return 2;
	in.abi = atoi(argv[1]);
	in.cfi.addr = strtoul(argv[2], NULL, 0);
	in.cfi.data = cfi;
	in.cfi.len = fread(cfi, 1, sizeof(cfi), file);
	fclose(file);
	ret = sfg_convert(&in, &out, NULL, &err);
	if (ret) {
		fprintf(stderr, "convert: %d: %s\n", ret, err.reason);
		return 1;
	}
	return write_section(argv[4], &out);
}
