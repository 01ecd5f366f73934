// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Prints the better one of sframegen's formats that this kernel reads. */
#include <stdio.h>
#include <sys/prctl.h>

#include <sfjit/sframe.h>

int main(void)
{
	int formats = prctl(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FORMATS, 0, 0, 0);

	puts(formats >= 0 && formats & 1 << SFRAME_FORMAT_V3_ADDEND ?
	     "v3-addend" : "v3");
	return 0;
}
