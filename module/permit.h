/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_PERMIT_H
#define SFJIT_PERMIT_H

#include <linux/types.h>

struct sfjit_user;

struct sfjit_user *sfjit_user_get(void);
void sfjit_user_put(struct sfjit_user *user);
int sfjit_user_charge(struct sfjit_user *user, size_t nr);
void sfjit_user_uncharge(struct sfjit_user *user, size_t nr);

#endif
