# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

room.tests/sfjit/inject := -Itests/lib -Iuserspace/sfjit \
	-iquote userspace/sfjit/perfdata -iquote userspace/sfjit/attach
room.tests/sfjit := $(room.tests/sfjit/inject) -D_GNU_SOURCE
sfjit_programs := $T/sfjit/programs

ifdef amd64
# Sanitizers check every access to input from processes and recordings.
san_tests += sfjit/ps $(if $(perfdata),sfjit/inject-table)
plain_tests += $(if $(sfjit_attach),sfjit/attach-engine)
endif
$T/sfjit/ps: private libs := -pthread
$T/sfjit/ps: $(call objects,$(addprefix userspace/sfjit/,ps*.c printable.c \
	reasons.c util.c file_tables.c),san/)
$T/sfjit/inject-table: $(call objects,$(addprefix userspace/sfjit/perfdata/, \
	table.c ends.c),san/)

# Calls in other processes, and a program that must not notice them.
$T/sfjit/attach-engine: $(call objects,userspace/sfjit/util.c $(addprefix \
	userspace/sfjit/attach/, remote.c threads.c trace.c)) \
	| $(sfjit_programs)/attach-target

# Its assembly has frames of its own.
$(sfjit_programs)/attach-target: tests/sfjit/attach/target.c
	$(program) -D_GNU_SOURCE -mno-red-zone -pthread
$(sfjit_programs)/attach-odd: tests/sfjit/attach/odd.c
	$(program) -D_GNU_SOURCE
# Its code is in pages of its own.
$(sfjit_programs)/attach-no-call: tests/sfjit/attach/no_call.S
	$(call to,AS) $(CC) -nostdlib -static -Wl,-z,separate-code \
		-Wl,--build-id=none -o $@ $<

# Programs for sfjit explain with known calls only.
explain := $(addprefix $(sfjit_programs)/explain-, fp table bare gap copy)
$(explain): tests/sfjit/explain/calls.c
	$(program) -O2 -g0 -fomit-frame-pointer $(explain_flags) -mno-red-zone \
		-fno-stack-protector -nostdlib -static -Wl,--build-id
$(sfjit_programs)/explain-fp: private explain_flags := -fno-omit-frame-pointer
$(sfjit_programs)/explain-bare: private explain_flags := \
	-fno-asynchronous-unwind-tables -DBARE
$(sfjit_programs)/explain-gap: private explain_flags := -DGAP
$(sfjit_programs)/explain-copy: private explain_flags := -DCOPY

# sfjit inject with a tracker that takes frames from samples.
inject_san := $(call objects,userspace/sfjit/perfdata/*.c,san/)
$(sfjit_programs)/inject-fake: tests/sfjit/inject/main.c $(convert:%=$(O)/obj/san/%.o) \
		$(O)/obj/san/tests/sfjit/inject/fake.o $(inject_san)
	$(program) $(san) -D_GNU_SOURCE
$(sfjit_programs)/inject-mutate: tests/sfjit/inject/mutate.c \
		$(O)/obj/san/tests/sfjit/inject/fake.o \
		$(O)/obj/san/tests/lib/tap.o $(inject_san)
	$(program) $(san) -D_GNU_SOURCE

# Only call frame information describes its frames.
$(sfjit_programs)/inject-edges: tests/sfjit/inject/edges.c \
		$(O)/obj/tests/lib/tap.o $(O)/lib/libsfjit.a
	$(program) -fomit-frame-pointer -pthread

$(sfjit_programs)/record-fork: tests/sfjit/record-fork.c
	$(program)

# A kernel for sfjit daemon, and programs: with a second executable segment, in the vDSO,
# and short ones.
$(sfjit_programs)/daemon-kernel.so: tests/sfjit/daemon/kernel.c
	$(program) -shared -fPIC -Iuserspace/sfjit -Iuserspace/sfjit/daemon -ldl
$(sfjit_programs)/daemon-two-segments: tests/sfjit/daemon/two_segments.c
	$(program) -static -Wl,--section-start=.far=0x500000
$(sfjit_programs)/daemon-clock $(sfjit_programs)/daemon-short: \
		$(sfjit_programs)/daemon-%: tests/sfjit/daemon/%.c
	$(program) -O2 -fomit-frame-pointer

TESTS += $(if $(amd64),$(if $(sfjit_attach),$(addprefix $(sfjit_programs)/, \
	attach-target attach-odd attach-no-call)) $(if $(perfdata),$(explain) \
	$(addprefix $(sfjit_programs)/, inject-fake inject-mutate inject-edges \
	record-fork daemon-kernel.so daemon-clock daemon-short \
	daemon-two-segments)))
