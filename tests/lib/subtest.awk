# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Prints a program's TAP as a subtest, indented by four spaces; Report.pm judges
# it.  Status 1 if a case failed; with first=1 it ends there, so that the program
# is killed by its next line.

{
	print "    " $0
	fflush()
}
/^ *not ok/ {
	failed = 1
	if (first)
		exit
}
END {
	if (!NR)
		print "    no output"
	exit failed
}
