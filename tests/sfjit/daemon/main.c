// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit with only this command. */
#include "commands.h"

int main(int argc, char **argv)
{
	return command_daemon(argc - 1, argv + 1);
}
