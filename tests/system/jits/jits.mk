# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs of tools/jits that are compiled, and the judge's test.

JITS_CALLS := $(O)/tests/system/jits/jits-calls

# A function that ends with a jump does so with -O2 only.
$(JITS_CALLS): tests/system/jits/calls.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -O2 -o $@ $<

TESTS += $(JITS_CALLS)

JITS_ORACLE := $(O)/tests/system/jits/oracle $(O)/tests/system/jits/sample

$(O)/tests/system/jits/oracle: tests/system/jits/oracle.c tests/kernel/replay/record.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter \
		$(CFLAGS) -o $@ $< -ldw -lelf

$(O)/tests/system/jits/sample: tests/system/jits/sample.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -O2 -o $@ $<

TESTS += $(JITS_ORACLE)

$(O)/tests/system/jits/llvmpipe: tests/system/jits/llvmpipe.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall $(CFLAGS) -o $@ $<

$(O)/tests/system/jits/qemu.img: tests/system/jits/qemu.S
	@mkdir -p $(@D)
	$(CC) -c -m32 -o $@.o $<
	objcopy -O binary -j .text $@.o $@

# By clang, which not every test needs: not part of `tests'.
$(O)/tests/system/jits/lli.bc: tests/system/jits/lli.cc
	@mkdir -p $(@D)
	clang++ -Wall -O2 -emit-llvm -c -o $@ $<

$(O)/tests/system/jits/llvm.bc: tests/system/jits/lli.cc
	@mkdir -p $(@D)
	clang++ -Wall -O2 -DROUNDS=256 -DSTUBS -emit-llvm -c -o $@ $<

$(O)/tests/system/jits/without: tests/system/jits/without.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra -Isframegen/include $(CFLAGS) -o $@ $<

# With Debian 13's LLVM, which they find in the guest. The module calls a function
# of theirs.
LLVM_EXAMPLES := $(addprefix $(O)/examples/, llvm_jitlink llvm_rtdyld)

$(LLVM_EXAMPLES): $(O)/examples/%: userspace/examples/%.cc \
		userspace/examples/llvm_run.h $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	llvm=$$(tools/llvm) && $(CXX) -std=c++17 -Wall -Wextra \
		-Wno-unused-parameter -O1 -fno-rtti -isystem $$llvm/include \
		-Iuserspace/include -Isframegen/include -o $@ $< \
		$(O)/lib/libsfjit.a $$llvm/libLLVM.so \
		-Wl,--allow-shlib-undefined -Wl,--export-dynamic -pthread

llvm-examples: $(LLVM_EXAMPLES) $(O)/tests/system/jits/llvm.bc $(O)/tests/system/jits/without

# HotSpot inlines no method of more than 325 bytes of bytecode.
hotspot_bulk = $(foreach n,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 \
	21 22 23 24 25 26 27 28 29 30 31 32 33 34,x = x * 31 + $(n) ^ x >>> 3;)

# By javac, which not every test needs.
$(O)/tests/system/jits/hotspot/Graph.class: tests/system/jits/hotspot.java.in
	@mkdir -p $(@D)
	sed 's/@BULK@/$(hotspot_bulk)/' $< >$(@D)/Graph.java
	javac --release 17 -d $(@D) $(@D)/Graph.java

# Of the JDK that javac is of.
javac_include = $(dir $(shell readlink -f "$$(command -v javac)"))../include

$(O)/tests/system/jits/hotspot/Changes.class: tests/system/jits/hotspot-changes.java.in
	@mkdir -p $(@D)
	sed 's/@BULK@/$(hotspot_bulk)/' $< >$(@D)/Changes.java
	javac --release 17 -d $(@D) $(@D)/Changes.java

$(O)/tests/system/jits/hotspot/libchanges.so: tests/system/jits/hotspot-changes.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra -O2 -fomit-frame-pointer -fPIC -shared \
		-I$(javac_include) -I$(javac_include)/linux -o $@ $<

jits-java: $(addprefix $(O)/tests/system/jits/hotspot/, Graph.class Changes.class \
	libchanges.so)

jits-programs: $(O)/tests/system/jits/lli.bc $(O)/tests/system/jits/oracle \
	$(O)/tests/kernel/replay/recorder $(O)/tests/system/jits/llvmpipe \
	$(O)/tests/system/jits/qemu.img

.PHONY: jits-programs jits-java llvm-examples
