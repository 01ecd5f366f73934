# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Lines of the tests of this directory, and whether one of them failed."""
import sys

failures = []


def check(name, good, why):
    print('ok - ' + name if good else 'not ok - %s: %s' % (name, why))
    if not good:
        failures.append(name)


def finish():
    sys.exit(bool(failures))
