// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit with only these commands. */
#include <string.h>

#include "commands.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "explain"))
		return command_explain(argc - 1, argv + 1);
	return command_inject(argc - 1, argv + 1);
}
