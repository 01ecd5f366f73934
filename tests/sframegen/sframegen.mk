# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# All of sframegen once more with the sanitizers, and with its basic blocks
# counted; its tests link that. The command is not for other machines.

room.tests/sframegen := -Isframegen/lib -Isframegen/cmd
sframegen_unit := cfi code go layout packed section $(if $(native),index output step template)
san_tests += $(sframegen_unit:%=sframegen/%) $(if $(native),sframegen/hostile)
sframegen_all = $(filter-out %/main.o,$(call objects, \
	sframegen/lib/*.c sframegen/cmd/$(if $(native),*,format).c,$(1)/))

$T/sframegen/%: private libs = $(if $(native),-lelf)
$(sframegen_unit:%=$T/sframegen/%): $(call sframegen_all,san)
# The basic blocks that are executed tell what takes long, not a clock.
$T/sframegen/hostile: $(call sframegen_all,count)
$T/sframegen/template: | $(O)/gen/sfjit_trampoline.h

# Small enough to be cut at each length.
tiny := $(O)/obj/tests/sframegen/tiny.so
TESTS += $(if $(native),$(tiny))

$(tiny): tests/sframegen/tiny.c
	$(call to,CC) $(CC) -O2 -fPIC -fasynchronous-unwind-tables -shared \
		-nostdlib -Wl,-z,noseparate-code,-z,max-page-size=4096 -o $@ $<

$T/sframegen/hostile: private flags = $(patsubst %,-Wl$(comma)--wrap=%,memcpy \
	memmove memset memchr memcmp strlen strnlen)
$T/sframegen/hostile: | $(tiny) $(TRAMPOLINE_SFRAME)

# Oracles, each a process of its own: elfutils' libdw and binutils' libsframe
# (GPL, unsafe on bad input: in no library or command of ours); and the reader of
# sections for packed tables.
oracles := $(addprefix $T/sframegen/programs/, libdw-rows libsframe-rows \
	packed-rows)
TESTS += $(if $(amd64),$(oracles))

$(oracles): $T/sframegen/programs/%: tests/sframegen/%.c \
		$(O)/obj/tests/sframegen/oracle-section.o \
		$(O)/lib/libsframegen.a
	$(program)

# The analysis is judged by what it knows, which no public header has.
judges := $(addprefix $T/sframegen/programs/, code-rows go-cfi step-rows)
no_cfi := $T/sframegen/programs/no-cfi
TESTS += $(if $(amd64),$(judges) $(no_cfi))

$(judges): $T/sframegen/programs/%: tests/sframegen/%.c \
		$(filter-out %/main.o,$(call objects,sframegen/cmd/*.c)) \
		$(O)/lib/libsframegen.a
	$(program) -lelf

$(no_cfi): tests/sframegen/no-cfi.S
	$(call to,CC) $(CC) -static -nostdlib -o $@ $<

$T/sframegen/programs/libdw-rows: private libs := -ldw -lelf
$T/sframegen/programs/libsframe-rows: private flags = -I$(LIBSFRAME)/include
$T/sframegen/programs/libsframe-rows: private libs = $(LIBSFRAME)/lib/libsframe.a
