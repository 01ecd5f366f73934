# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

CPYTHON_READER := $(O)/tests/runtimes/python/programs/_reader.so

TESTS += $(CPYTHON_READER)

cpython-reader: $(CPYTHON_READER)

$(CPYTHON_READER): tests/runtimes/python/reader.c userspace/runtimes/python/assist.h \
		$(filter $(O)/obj/userspace/runtimes/python/assist%,$(PYTHON_OBJ)) \
		$(O)/lib/libsframegen.a $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) $(PYTHON_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -DNDEBUG -fPIC -shared \
		-pthread -o $@ $(filter %.c %.o %.a,$^)

.PHONY: cpython-reader
