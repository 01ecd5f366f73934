# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# Oracles, each a process of its own: elfutils' libdw and binutils' libsframe
# (GPL, unsafe on bad input: in no library or command of ours).

TESTS += $(O)/tests/sframegen/programs/libdw-rows $(O)/tests/sframegen/programs/libsframe-rows

$(O)/tests/sframegen/programs/libdw-rows: tests/sframegen/libdw-rows.c tests/sframegen/oracle-section.c \
		tests/sframegen/oracle-section.h $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter-out %.h,$^) -ldw -lelf

$(O)/tests/sframegen/programs/libsframe-rows: tests/sframegen/libsframe-rows.c \
		tests/sframegen/oracle-section.c tests/sframegen/oracle-section.h $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -I$(LIBSFRAME)/include -o $@ \
		$(filter-out %.h,$^) $(LIBSFRAME)/lib/libsframe.a
