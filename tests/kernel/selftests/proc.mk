# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Static: a guest without libraries runs it.
$(O)/tests/kernel/selftests/proc_test: tests/kernel/selftests/proc_test.c tests/libsfjit/test.h \
		tests/lib/tap.c tests/lib/tap.h \
		sframegen/include/sfjit/format.h \
		sframegen/include/sfjit/sframe.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -static -pthread -o $@ \
		$(filter %.c,$^)

TESTS += $(O)/tests/kernel/selftests/proc_test
