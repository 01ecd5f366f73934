# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Prints a program's TAP as a subtest, indented by four spaces.  Ends with
# status 1, and says why, if it is not that of a program that passed: status=FILE
# has its exit status by then.  With first=1 it ends at the first failure, so
# that the program is killed by its next line.
#
# The selftests of the kernel exit with 4 if they skipped each case.

{
	print "    " $0
	fflush()
}
/^ *not ok/ {
	failed++
	if (first)
		exit
}
/^(not )?ok/ {
	cases++
	skipped += / # SKIP/
}
/^1\.\.[0-9]/ {
	planned = substr($1, 4)
	plans++
	skipped_all = /^1\.\.0 # SKIP/
}
END {
	if (!failed)
		getline rc <status
	if (failed)
		why = failed " failed"
	else if (rc != 0 && !(rc == 4 && (skipped_all || skipped == cases)))
		why = "exit status " rc
	else if (skipped_all && !cases)
		exit 0
	else if (!cases)
		why = "no case"
	else if (plans != 1)
		why = plans + 0 " plans"
	else if (planned != cases)
		why = cases " cases of " planned
	if (why == "")
		exit 0
	print "# " why
	exit 1
}
