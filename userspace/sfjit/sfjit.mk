# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

SFJIT := $(O)/bin/sfjit
SFJIT_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/sfjit/*.c))
# Of the module, what says where the cache is.
SFJIT_PRELOAD_OBJ := $(addprefix $(O)/obj/userspace/preload/, cache_dir.o sys.o)
# Of sframegen, what says where an output leads.
SFJIT_PATH_OBJ := $(O)/obj/sframegen/cmd/path.o
SFJIT_LIBS := $(SFJIT_PRELOAD_OBJ) $(SFJIT_PATH_OBJ) $(O)/lib/libsfjit.a $(O)/lib/libsframegen.a

# There is no libelf for other machines here.
ifeq ($(CROSS_COMPILE),)
SFJIT_LIBS := $(PERFDATA_OBJ) $(O)/lib/libsfjit-stacks.a $(SFJIT_LIBS)
SFJIT_LD := -lelf
else
SFJIT_OBJ := $(filter-out $(addprefix %/, convert.o explain.o explain_words.o \
	inject.o record.o record_options.o target.o),$(SFJIT_OBJ))
endif

ifneq ($(ATTACH_OBJ),)
SFJIT_LIBS := $(ATTACH_OBJ) $(SFJIT_LIBS)
endif

ALL += $(SFJIT)

$(SFJIT_OBJ): $(O)/obj/%.o: %.c $(wildcard userspace/sfjit/*.h \
		userspace/sfjit/perfdata/*.h userspace/include/*.h) $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -iquote userspace/sfjit/perfdata \
		-iquote sframegen/cmd -c -o $@ $<

# Each of its functions has a frame record until it returns.
$(O)/obj/userspace/sfjit/doctor_samples.o: SF_CFLAGS += \
	-fno-omit-frame-pointer -fno-optimize-sibling-calls

$(SFJIT): $(SFJIT_OBJ) $(SFJIT_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(SFJIT_LD)

# sfjit finds the module in ../lib/sfjit of its own directory, whatever LIBDIR is.
install: install-sfjit

install-sfjit: $(SFJIT) $(O)/lib/sfjit/libsfjit-preload.so
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/sfjit \
		$(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/sfjit
	install -m 755 $(SFJIT) $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(O)/lib/sfjit/libsfjit-preload.so \
		$(DESTDIR)$(PREFIX)/lib/sfjit
	install -m 644 Documentation/man/sfjit.1 \
		$(if $(ATTACH_OBJ),Documentation/man/sfjit-attach.1) \
		Documentation/man/sfjit-explain.1 \
		Documentation/man/sfjit-inject.1 \
		Documentation/man/sfjit-record.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 userspace/sfjit/flamegraph.html \
		$(DESTDIR)$(PREFIX)/share/sfjit

.PHONY: install install-sfjit
