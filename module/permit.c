// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Limit the number of windows per user.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "permit.h"
#include "target.h"

static int sfjit_user_windows = 262144;
module_param_named(user_windows, sfjit_user_windows, int, 0644);
MODULE_PARM_DESC(user_windows, "Windows of all processes of one user");

/**
 * struct sfjit_user - the windows of a user
 * @node:	in the hash by @uid
 * @uid:	the user
 * @refs:	number of registries, under the lock of the hash
 * @nr:		number of windows in them
 */
struct sfjit_user {
	struct hlist_node	node;
	kuid_t			uid;
	unsigned int		refs;
	atomic_long_t		nr;
};

static DEFINE_HASHTABLE(sfjit_users, 6);
static DEFINE_SPINLOCK(sfjit_users_lock);

static struct sfjit_user *sfjit_user_find(kuid_t uid)
{
	struct sfjit_user *user;

	hash_for_each_possible(sfjit_users, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid)) {
			user->refs++;
			return user;
		}
	}
	return NULL;
}

/*
 * Get the user of the process that gets windows, for sfjit_user_put(). This
 * must not fail: a registry without a user would have no limit.
 */
struct sfjit_user *sfjit_user_get(void)
{
	struct sfjit_target *target = sfjit_target();
	kuid_t uid = target ? target->uid : current_uid();
	struct sfjit_user *user, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL | __GFP_NOFAIL);

	spin_lock(&sfjit_users_lock);
	user = sfjit_user_find(uid);
	if (!user) {
		new->uid = uid;
		new->refs = 1;
		hash_add(sfjit_users, &new->node, __kuid_val(uid));
		user = new;
		new = NULL;
	}
	spin_unlock(&sfjit_users_lock);
	kfree(new);
	return user;
}

void sfjit_user_put(struct sfjit_user *user)
{
	spin_lock(&sfjit_users_lock);
	if (--user->refs)
		user = NULL;
	else
		hash_del(&user->node);
	spin_unlock(&sfjit_users_lock);
	kfree(user);
}

int sfjit_user_charge(struct sfjit_user *user, size_t nr)
{
	if (atomic_long_add_return(nr, &user->nr) <=
	    READ_ONCE(sfjit_user_windows))
		return 0;
	atomic_long_sub(nr, &user->nr);
	return -ENOSPC;
}

void sfjit_user_uncharge(struct sfjit_user *user, size_t nr)
{
	atomic_long_sub(nr, &user->nr);
}
