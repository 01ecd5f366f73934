# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# make              programs into build/bin, libraries into build/lib
# make tests        test programs into build/tests
# make CROSS_COMPILE=aarch64-linux-gnu- tests
#                   the same of another machine, into build/aarch64
# make check        tools/check
# make kernel-tree  editable git tree with the series applied, build/linux
# make kernel       the patched kernel; prints the path of its bzImage
# make series       mailable series with cover letter, build/series/*.patch

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

# Found out once, and only when a rule needs it: an assembler and binutils'
# libsframe of 2.46 or newer, the headers of Debian 13's python3.13.
tool = $(or $(shell O=$(O) tools/$(1)),$(error tools/$(1) failed))
AS_SFRAME ?= $(eval AS_SFRAME := $(call tool,binutils as))$(AS_SFRAME)
LIBSFRAME ?= $(eval LIBSFRAME := $(call tool,binutils libsframe))$(LIBSFRAME)
PYTHON_INC ?= $(eval PYTHON_INC := $(call tool,python-headers $(ARCH)))$(PYTHON_INC)

# make install PREFIX= LIBDIR= DESTDIR=
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
version_h := sframegen/include/sfjit/version.h
version = $(shell sed -n 's/^.define SFJIT_VERSION_$(1)\t*//p' $(version_h))
SFJIT_MAJOR := $(call version,MAJOR)
SFJIT_VERSION := $(SFJIT_MAJOR).$(call version,MINOR)
fill_pc = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	-e 's|@VERSION@|$(SFJIT_VERSION)|'

ALL :=
TESTS :=
all:

# What is needed below is included first: rules take its variables.
include sframegen/sframegen.mk arch/arch.mk userspace/libsfjit/libsfjit.mk

# The commands on recordings by themselves: tests link them with other trackers,
# and for machines for which sfjit has them not.
CONVERT_SRC := tests/sfjit/inject/main.c $(addprefix userspace/sfjit/, inject.c \
	convert.c explain.c explain_words.c followed.c ps_reasons.c \
	printable.c columns.c json.c must.c target.c) sframegen/cmd/path.c

# This is for machines whose code it knows; see Documentation/new-arch.rst.
run_mk := $(addprefix userspace/, preload/preload.mk \
	$(if $(CROSS_COMPILE),,stacks/stacks.mk sfjit/perfdata/perfdata.mk) \
	$(if $(wildcard arch/$(ARCH)/registers.h),sfjit/attach/attach.mk) \
	sfjit/sfjit.mk runtimes/python/python.mk)
ifneq ($(wildcard arch/$(ARCH)/code.h),)
include $(run_mk)
endif

# And this for the one whose code the tests have in them.
ifneq ($(wildcard arch/$(ARCH)/arch.mk),)
include arch/$(ARCH)/arch.mk
include $(filter-out %/libsfjit.mk $(run_mk), \
	$(sort $(wildcard userspace/*/*.mk userspace/*/*/*.mk)))
include tests/kernel/selftests/kselftest.mk $(filter-out %/kselftest.mk, \
	$(sort $(wildcard tests/*/*.mk tests/*/*/*.mk))) $(wildcard bench/*.mk)
else
include tests/arch/arch.mk $(addprefix tests/kernel/selftests/, \
	kselftest.mk selftests.mk) \
	tests/kernel/debug/debug.mk tests/kernel/prctl/prctl.mk \
	bench/guest/guest.mk
endif

all: $(ALL)
tests: all $(TESTS)

# What the lanes unit and diff need of it: tools/needs.
DIFF_UNIT := $(addprefix $(O)/tests/, libsfjit/pool sframegen/hostile)

# Of another machine, where there are no headers of its Python.
arch-tests: $(filter-out $(PYTHON_DIR)/%,$(ALL)) $(TESTS)

unit-programs: $(filter-out $(PYTHON_DIR)/%,$(ALL)) \
	$(filter-out %/sframegen/hostile $(addprefix $(O)/tests/, \
	runtimes/python/% sframegen/programs/%),$(filter $(O)/obj/% \
	$(addprefix $(O)/tests/, libsfjit/% preload/% runtimes/% sfjit/% \
	sframegen/% stacks/% kernel/replay/steps system/jits/jits-calls),$(TESTS)))

diff-programs: $(O)/bin/sframegen $(TRAMPOLINE_SFRAME) $(DIFF_UNIT) \
	$(filter %/hello-static %/signals-static %/jits/oracle %/jits/sample \
	$(O)/tests/sframegen/programs/%,$(TESTS))

check:
	O=$(O) tools/check

kernel-tree:
	O=$(O) tools/kernel tree $(O)/linux

kernel:
	O=$(O) tools/kernel image patched

series:
	O=$(O) tools/series

clean:
	O=$(O) tools/clean

.PHONY: all tests arch-tests unit-programs diff-programs check kernel-tree kernel series clean
.DELETE_ON_ERROR:
