/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A window for bench_trigger_insn, where a step without one would not tell the
 * register from which the frame above may start.
 */
#ifndef BENCH_TRIGGER_H
#define BENCH_TRIGGER_H

void trigger_window_register(void);
void trigger_window_unregister(void);

#endif /* BENCH_TRIGGER_H */
