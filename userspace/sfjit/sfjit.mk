# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

SFJIT := $(O)/bin/sfjit
room.userspace/sfjit := -D_GNU_SOURCE -iquote userspace/sfjit/perfdata \
	-iquote sframegen/cmd
room.userspace/sfjit/perfdata := -D_GNU_SOURCE
room.userspace/sfjit/daemon := -D_GNU_SOURCE -iquote userspace/sfjit \
	-iquote sframegen/cmd
room.userspace/sfjit/attach := -D_GNU_SOURCE -iquote userspace/sfjit \
	-iquote userspace/preload

# sfjit inject, to be linked with any tracker of frames.
convert := $(addprefix userspace/sfjit/, inject convert explain file_tables reasons \
	printable target util) sframegen/cmd/path

# Attaching is for machines whose registers are known. Of the module: what says
# where the cache is; of sframegen, what says where an output leads, and for the
# daemon what reads files. There is no libelf for other machines, and without it no
# command for recordings, and no daemon.
sfjit_obj := $(call objects,userspace/sfjit/*.c)
sfjit_attach := $(if $(wildcard arch/$(ARCH)/registers.h),$(call objects, \
	userspace/sfjit/attach/*.c))
perfdata := $(if $(native),$(call objects,userspace/sfjit/perfdata/*.c))
sfjit_daemon := $(if $(perfdata),$(call objects,userspace/sfjit/daemon/*.c \
	$(addprefix sframegen/cmd/,object*.c file.c format.c)))
sfjit_libs := $(sfjit_attach) $(sfjit_daemon) $(if $(perfdata),$(perfdata) \
	$(O)/lib/libsfjit-stacks.a) \
	$(addprefix $(O)/obj/userspace/preload/, cache_dir.o sys.o) \
	$(O)/obj/sframegen/cmd/path.o \
	$(O)/lib/libsfjit.a $(O)/lib/libsframegen.a
ifndef perfdata
sfjit_obj := $(filter-out $(addprefix %/, build_ids.o build_id_cache.o convert.o \
	elf_note.o explain.o inject.o record.o record_options.o target.o),$(sfjit_obj))
endif

ALL += $(if $(walks),$(SFJIT))

# Each of its functions has a frame record until it returns.
$(O)/obj/userspace/sfjit/doctor_samples.o: SF_CFLAGS += \
	-fno-omit-frame-pointer -fno-optimize-sibling-calls

$(SFJIT): $(sfjit_obj) $(sfjit_libs)
	$(call to,LD) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(if $(native),-lelf)

# With libelf of a foreign machine, or with the tracker of elfutils.
$(O)/obj/elf/%.o: %.c
	$(cc) -D_GNU_SOURCE -isystem $(LIBELF)/include -iquote userspace/sfjit/perfdata \
		-iquote userspace/sfjit -c $<

install: $(if $(walks),install-sfjit $(if $(sfjit_daemon),install-daemon))

install-sfjit: $(SFJIT) install-preload
	$(call put,755,$(PREFIX)/bin,$(SFJIT))
	$(call put_man,1,sfjit $(if $(sfjit_attach),sfjit-attach) \
		sfjit-explain sfjit-inject sfjit-record)
	$(call put,644,$(PREFIX)/share/sfjit,userspace/sfjit/flamegraph.html)

# Not started by it.
units := $(DESTDIR)$(PREFIX)/lib/systemd/system
install-daemon:
	install -d $(units)
	$(fill_pc) userspace/sfjit/daemon/sfjit-daemon.service.in \
		>$(units)/sfjit-daemon.service

.PHONY: install-sfjit install-daemon
