// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Who may register windows, and how many.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uidgid.h>

#include "permit.h"

enum sfjit_allow {
	SFJIT_ALLOW_ROOT,
	SFJIT_ALLOW_GROUP,
	SFJIT_ALLOW_ALL,
};

static const char * const sfjit_allow_names[] = {
	[SFJIT_ALLOW_ROOT]	= "root",
	[SFJIT_ALLOW_GROUP]	= "group",
	[SFJIT_ALLOW_ALL]	= "all",
};

static int sfjit_allow = SFJIT_ALLOW_GROUP;

static int sfjit_allow_set(const char *value, const struct kernel_param *param)
{
	int allow = sysfs_match_string(sfjit_allow_names, value);

	if (allow < 0)
		return allow;
	WRITE_ONCE(sfjit_allow, allow);
	return 0;
}

static int sfjit_allow_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n",
			  sfjit_allow_names[READ_ONCE(sfjit_allow)]);
}

static const struct kernel_param_ops sfjit_allow_ops = {
	.set	= sfjit_allow_set,
	.get	= sfjit_allow_get,
};

module_param_cb(allow, &sfjit_allow_ops, NULL, 0644);
MODULE_PARM_DESC(allow, "Who may register windows: root, group (root and gid; default) or all");

static int sfjit_gid = -1;
module_param_named(gid, sfjit_gid, int, 0644);
MODULE_PARM_DESC(gid, "Number of the group that may register windows; -1 for none");

static int sfjit_user_windows = 262144;
module_param_named(user_windows, sfjit_user_windows, int, 0644);
MODULE_PARM_DESC(user_windows, "Windows of all processes of one user");

static bool sfjit_in_group(void)
{
	kgid_t gid = make_kgid(&init_user_ns, READ_ONCE(sfjit_gid));

	return gid_valid(gid) && in_egroup_p(gid);
}

/* May current register windows? */
bool sfjit_permitted(void)
{
	switch (READ_ONCE(sfjit_allow)) {
	case SFJIT_ALLOW_ALL:
		return true;
	case SFJIT_ALLOW_GROUP:
		if (sfjit_in_group())
			return true;
		break;
	}
	return uid_eq(current_euid(), GLOBAL_ROOT_UID);
}

/**
 * struct sfjit_user - what a user has
 * @node:	in the hash by @uid
 * @uid:	the user
 * @refs:	registries, under the lock of the hash
 * @nr:		windows in them
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
 * The user of current, for sfjit_user_put(). It may not fail: a registry without
 * a user would have no bound.
 */
struct sfjit_user *sfjit_user_get(void)
{
	struct sfjit_user *user, *new;
	kuid_t uid = current_uid();

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
