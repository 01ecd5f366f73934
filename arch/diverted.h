/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What each machine's event.S has for diverted functions; its code.h includes
 * this.
 */
#ifndef SFJIT_ARCH_DIVERTED_H
#define SFJIT_ARCH_DIVERTED_H

#include <stdint.h>

/* Called with the number of the event; all registers are kept. */
void code_event(unsigned long number);
extern const uint8_t code_events[] __attribute__((visibility("hidden")));

/* Pages of text where nothing is called. */
extern uint8_t code_trial[CODE_TRIAL_SIZE]
	__attribute__((visibility("hidden")));

/* Bytes that vector registers need; before an event. */
extern unsigned long code_vectors __attribute__((visibility("hidden")));

#endif /* SFJIT_ARCH_DIVERTED_H */
