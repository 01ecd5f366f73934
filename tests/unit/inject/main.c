// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit, with this one command. */
#include "commands.h"

int main(int argc, char **argv)
{
	return command_inject(argc - 1, argv + 1);
}
