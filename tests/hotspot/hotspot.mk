# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

HOTSPOT_STEP := $(addprefix $(O)/tests/hotspot/, step record.so)

TESTS += $(HOTSPOT_STEP)

$(O)/tests/hotspot/step: tests/hotspot/step.c tests/hotspot/record.h \
		$(O)/lib/libsframegen.a $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $< $(O)/lib/libsframegen.a

$(O)/tests/hotspot/record.so: tests/hotspot/record.c tests/hotspot/record.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<

# By javac, which not every test needs.
$(O)/tests/jits/hotspot/Churn.class: tests/hotspot/Churn.java
	@mkdir -p $(@D)
	javac --release 17 -d $(@D) $<

jits-java: $(O)/tests/jits/hotspot/Churn.class $(HOTSPOT_STEP)
