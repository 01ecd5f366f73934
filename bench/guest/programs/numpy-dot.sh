# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: python3-numpy libopenblas0-pthread
run env OPENBLAS_NUM_THREADS=1 python3 -c 'import numpy
a = numpy.arange(25600.0).reshape(160, 160) % 7
for i in range(12): b = a.dot(a) % 7
print(b.sum())'
