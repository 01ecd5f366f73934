# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

HOTSPOT_STEP := $(addprefix $(O)/tests/runtimes/hotspot/programs/, step record.so)

TESTS += $(HOTSPOT_STEP)

$(O)/tests/runtimes/hotspot/programs/step: tests/runtimes/hotspot/step.c tests/runtimes/hotspot/record.h \
		$(O)/lib/libsframegen.a $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $< $(O)/lib/libsframegen.a

$(O)/tests/runtimes/hotspot/programs/record.so: tests/runtimes/hotspot/record.c tests/runtimes/hotspot/record.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<

# By javac, which not every test needs.
$(O)/tests/system/jits/hotspot/Churn.class: tests/runtimes/hotspot/Churn.java
	@mkdir -p $(@D)
	javac --release 17 -d $(@D) $<

jits-java: $(O)/tests/system/jits/hotspot/Churn.class $(HOTSPOT_STEP)
