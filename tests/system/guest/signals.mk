# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# One program for `sfjit run', as programs are built, and one that has its C
# library in itself. All symbols are bound at start: ld.so's code that does it
# later keeps its caller's stack pointer in rbx, which ends a walk.

signals_out := $(addprefix $(O)/tests/system/guest/signals, -dynamic -static)
signals_cc = @mkdir -p $(@D) && $(CC) $(SF_CFLAGS) -D_GNU_SOURCE -O2 \
	-fomit-frame-pointer -pthread -Itests/system/guest -Iuserspace/preload

TESTS += $(signals_out)
$(signals_out): tests/system/guest/signals.c tests/system/guest/signals.h

$(O)/tests/system/guest/signals-dynamic: tests/system/guest/signals_dynamic.c
	$(signals_cc) -Wl,-z,now -o $@ $(filter %.c,$^)

$(O)/tests/system/guest/signals-static: tests/system/guest/signals_static.c \
		$(addprefix userspace/preload/, image.c windows.c) \
		$(O)/obj/userspace/libsfjit/register.o $(O)/lib/libsframegen.a
	$(signals_cc) -static-pie -fPIE -o $@ $(filter-out %.h,$^)
