# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# make              programs into build/bin, libraries into build/lib
# make V=1          the same, shows the commands
# make python       the extension of CPython as well, with headers from the archive
# make tests        test programs into build/tests
# make CROSS_COMPILE=aarch64-linux-gnu- tests
#                   the same of another machine, into build/aarch64
# make check        tools/check: the everyday tests
# make kernel-tree  editable git tree with the series applied, build/linux
# make kernel       the patched kernel; prints the path of its bzImage
# make series       mailable series with cover letters, build/series/*/*.patch;
#                   with S=1 only 1-core
# make man          manual pages of the headers, with kernel-doc of the kernel's source

# The compiler says which machine is meant.
CROSS_COMPILE ?=
CC = $(CROSS_COMPILE)gcc
AR = $(CROSS_COMPILE)ar
OBJCOPY = $(CROSS_COMPILE)objcopy
ARCH := $(patsubst powerpc%,ppc%,$(firstword $(subst -, ,$(shell \
	$(CC) -dumpmachine))))
O ?= build$(and $(CROSS_COMPILE),/$(ARCH))
CFLAGS ?= -O2 -g
SF_CFLAGS = -std=gnu11 -Wall -Wextra -Wno-unused-parameter \
	-Isframegen/include -Iuserspace/include -Iarch -Iarch/$(ARCH) -I$(O)/gen

# There is libelf for this machine only. sfjit run is for machines whose code it
# knows, see Documentation/new-arch.rst; most tests have code of AMD64 in them.
native := $(if $(CROSS_COMPILE),,yes)
walks := $(wildcard arch/$(ARCH)/code.h)
amd64 := $(filter x86_64,$(ARCH))

# Found out once, and only when a rule needs it, since each may come from the
# archive: an assembler and binutils' libsframe of 2.46 or newer, and elfutils
# with its tracker, or libelf of another machine.
tool = $(or $(shell O=$(O) tools/$(1)),$(error tools/$(1) failed))
AS_SFRAME ?= $(eval AS_SFRAME := $(call tool,binutils as))$(AS_SFRAME)
LIBSFRAME ?= $(eval LIBSFRAME := $(call tool,binutils libsframe))$(LIBSFRAME)
LIBELF = $(eval LIBELF := $(call tool,$(if $(native),elfutils,libelf \
	$(ARCH))))$(LIBELF)

# make install PREFIX= LIBDIR= DESTDIR=
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
version_h := sframegen/include/sfjit/version.h
version = $(shell sed -n 's/^.define SFJIT_VERSION_$(1)\t*//p' $(version_h))
SFJIT_MAJOR := $(call version,MAJOR)
SFJIT_VERSION := $(SFJIT_MAJOR).$(call version,MINOR)
fill_pc = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	-e 's|@VERSION@|$(SFJIT_VERSION)|'
# $(call put,MODE,DIRECTORY,FILE...) and $(call put_pc,FILE.in)
put = $(if $(3),install -D -m $(1) -t $(DESTDIR)$(strip $(2)) $(3))
put_man = $(call put,644,$(PREFIX)/share/man/man$(1),$(wildcard \
	$(2:%=Documentation/man/%.$(1))))
put_pc = install -d $(DESTDIR)$(LIBDIR)/pkgconfig && $(fill_pc) $(1) \
	>$(DESTDIR)$(LIBDIR)/pkgconfig/$(notdir $(1:.in=))

# The compiler notes in dep/ what each source includes.
depfile = $(patsubst $(O)/%,$(O)/dep/%,$@).d
dep = -MMD -MP -MF $(depfile) -MT $@
# Flags of a directory's sources: room.DIRECTORY; for a library: lib.DIRECTORY, too;
# for tests, with faults: test.DIRECTORY.
to = $(call quiet,$(1)) mkdir -p $(@D) $(dir $(depfile)) &&
cc = $(call to,CC) $(CC) $(SF_CFLAGS) $(CFLAGS) $(dep) $(room.$(<D)) -o $@
pic := -fPIC -fvisibility=hidden
# $(call objects,PATTERN,VARIANT/)
objects = $(patsubst %,$(O)/obj/$(2)%.o,$(basename $(wildcard $(1))))

# Compilers for other machines have no sanitizers here.
comma := ,
san := $(if $(native),-fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=all)
race := -fsanitize=thread -Wno-tsan

# What `all' and `tests' build; names of tests without the sanitizers and with them,
# of programs for tests, all of tests/NAME.c; paths of tests that have rules.
ALL :=
TESTS :=
plain_tests :=
san_tests :=
programs :=
other_tests :=
T := $(O)/tests
# $(call in_tests,NAME...): those whose source is there
in_tests = $(patsubst tests/%.c,$(T)/%,$(wildcard $(1:%=tests/%.c)))
all:

# Directories may be missing, as they are where a group of tests runs that ignores
# them: each target below is one whose sources are there.
-include Makefile.quiet
rooms := $(wildcard sframegen/sframegen.mk arch/arch.mk \
	userspace/libsfjit/libsfjit.mk) $(filter-out %/libsfjit.mk,$(wildcard \
	userspace/*/*.mk))
include $(rooms)
include $(wildcard $(patsubst %,tests/%.mk,$(foreach room,$(basename $(notdir \
	$(rooms))) system,$(room)/$(room)) kernel/selftests/kselftest \
	kernel/fuzz/fuzz) bench/bench.mk)
-include $(shell find $(O)/dep -name '*.d' 2>/dev/null)

# Objects: for libraries and commands; with position independence for a module of
# Python; with faults that tests ask for; and with what finds mistakes, races, and
# how many basic blocks are executed: what takes long is told by that, not by a
# clock.
$(O)/obj/%.o: %.c
	$(cc) $(lib.$(<D)) -c $<
$(O)/obj/%.o: %.S
	$(cc) -c $<
$(O)/obj/pic/%.o: %.c
	$(cc) -fPIC -c $<
$(O)/obj/pic/%.o: %.S
	$(cc) -fPIC -c $<
$(O)/obj/test/%.o: %.c
	$(cc) -fPIC -pthread -DSFJIT_TEST -c $<
$(O)/obj/san/%.o: %.c
	$(cc) $(san) $(test.$(<D)) -c $<
$(O)/obj/race/%.o: %.c
	$(cc) $(race) $(test.$(<D)) -c $<
$(O)/obj/count/%.o: %.c
	$(cc) $(san) -fsanitize-coverage=trace-pc -c $<

$(O)/%.a:
	$(call to,AR) rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Programs of one source and the objects and libraries that their lines name, with
# `flags' and `libs', and tests, which print TAP.
program = $(cc) $(checks) $(flags) $< $(filter %.o %.a %.so %.so.1,$^) $(libs)
plain_tests := $(call in_tests,$(plain_tests))
san_tests := $(call in_tests,$(san_tests))
programs := $(call in_tests,$(programs))

$(programs): $(T)/%: tests/%.c
	$(program)
$(plain_tests): $(T)/%: tests/%.c $(O)/obj/tests/lib/tap.o
	$(program)
$(san_tests): private checks = $(san)
$(san_tests): $(T)/%: tests/%.c $(O)/obj/san/tests/lib/tap.o
	$(program)

TEST_PROGRAMS := $(sort $(plain_tests) $(san_tests) $(other_tests))
TESTS += $(TEST_PROGRAMS) $(if $(amd64),$(programs))
ALL := $(sort $(ALL))

all: $(ALL)
tests: all $(TESTS)
arch-tests: $(ALL) $(filter-out python,$(TESTS))

# What these tests need of it: tools/needs.mk.
unit-programs: all $(filter-out $(T)/sframegen/hostile $(addprefix $(T)/, \
	runtimes/python/% sframegen/programs/%),$(filter $(O)/obj/% \
	$(addprefix $(T)/, arch/% libsfjit/% preload/% runtimes/% sfjit/% sframegen/% \
	stacks/% kernel/replay/steps system/jits/jits-calls),$(TESTS)))

diff-programs: $(O)/bin/sframegen $(TRAMPOLINE_SFRAME) $(filter \
	%/hello-static %/signals-static %/jits/oracle %/jits/sample \
	%/libsfjit/pool %/sframegen/hostile $(T)/sframegen/programs/%,$(TESTS))

check:
	O=$(O) tools/check

kernel-tree:
	O=$(O) tools/kernel tree $(O)/linux

kernel:
	O=$(O) tools/kernel image patched

series:
	O=$(O) tools/series $(S)

# BENCH: names of bench/run, by default all
bench:
	O=$(O) bench/run $(BENCH)
	O=$(O) bench/page $(BENCH_OUT)

numbers:
	Documentation/figures/update --all

man:
	tools/man "$$(O=$(O) tools/kernel source unpatched)" Documentation/man

clean:
	O=$(O) tools/clean

.PHONY: all tests arch-tests unit-programs diff-programs check kernel-tree \
	kernel series bench numbers man clean install
.DELETE_ON_ERROR:
.SECONDARY:
