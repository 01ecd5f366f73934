# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# Oracles, each a process of its own: elfutils' libdw and binutils' libsframe
# (GPL, unsafe on bad input: in no library or command of ours).

TESTS += $(O)/tests/diff/libdw-rows $(O)/tests/diff/libsframe-rows

$(O)/tests/diff/libdw-rows: tests/diff/libdw-rows.c tests/diff/section.c \
		tests/diff/section.h $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter-out %.h,$^) -ldw -lelf

$(O)/tests/diff/libsframe-rows: tests/diff/libsframe-rows.c \
		tests/diff/section.c tests/diff/section.h $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -I$(LIBSFRAME)/include -o $@ \
		$(filter-out %.h,$^) $(LIBSFRAME)/lib/libsframe.a
