# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

for file in cfi_program encode read; do
	gcc -O2 -I/sfjit/sframegen/include -I/sfjit/sframegen/lib -c \
		-o /dev/null "/sfjit/sframegen/lib/$file.c"
done
