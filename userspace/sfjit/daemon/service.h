/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Descriptors that systemd keeps for a service: see sd_notify(3) and
 * sd_listen_fds(3).
 */
#ifndef SFJIT_DAEMON_SERVICE_H
#define SFJIT_DAEMON_SERVICE_H

/* A descriptor that an earlier run gave it, or -1. */
int service_take(const char *name);

/* Gives it a copy of the descriptor. */
void service_keep(const char *name, int fd);

void service_is_ready(void);

#endif /* SFJIT_DAEMON_SERVICE_H */
