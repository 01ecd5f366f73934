# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: python3-numpy libopenblas0-pthread
run env OPENBLAS_NUM_THREADS=1 python3 -c 'import numpy
a = numpy.sin(numpy.arange(22500.0)).reshape(150, 150) + 150 * numpy.eye(150)
print(round(numpy.linalg.solve(a, numpy.ones(150)).sum(), 6))
print(round(float(numpy.linalg.svd(a[:60, :60])[1][0]), 6))'
