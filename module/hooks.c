// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Hooks by ftrace. A handler runs in the context of the function, which may be
 * an NMI; it only changes the address at which the function continues.
 */
#include <linux/kprobes.h>
#include <linux/string.h>

#include "hooks.h"

/* ftrace's instruction: a NOP, or a call while something traces the function. */
static bool sfjit_is_fentry(const u8 *insn)
{
	static const u8 nop[MCOUNT_INSN_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return insn[0] == 0xe8 || !memcmp(insn, nop, sizeof(nop));
}

/**
 * sfjit_hook_entry - find a function, exported or not
 * @name:	its name
 *
 * Return: its address, after the ENDBR if it has one, or an error.
 */
void *sfjit_hook_entry(const char *name)
{
	struct kprobe probe = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	void *addr;
	int ret;

	ret = register_kprobe(&probe);
	if (ret) {
		pr_err("sfjit: cannot find %s (%d): not loaded\n", name, ret);
		return ERR_PTR(ret);
	}
	addr = probe.addr;
	unregister_kprobe(&probe);
	return addr;
}

/**
 * sfjit_hook_body - find the code of a function after ftrace's instruction
 * @name:	its name
 *
 * Call this address to run the function without hooks.
 *
 * Return: the address or an error.
 */
void *sfjit_hook_body(const char *name)
{
	u8 *addr = sfjit_hook_entry(name);

	if (IS_ERR(addr))
		return addr;
	if (!sfjit_is_fentry(addr)) {
		pr_err("sfjit: %s begins with unexpected bytes %*ph: not loaded\n",
		       name, MCOUNT_INSN_SIZE, addr);
		return ERR_PTR(-ENOEXEC);
	}
	return addr + MCOUNT_INSN_SIZE;
}

static int sfjit_hook_filter(struct sfjit_hook *hook)
{
	int ret;

	if (hook->filtered)
		return 0;
	ret = ftrace_set_filter(&hook->ops, (unsigned char *)hook->name,
				strlen(hook->name), 1);
	hook->filtered = !ret;
	return ret;
}

int sfjit_hook_add(struct sfjit_hook *hook)
{
	int ret;

	ret = sfjit_hook_filter(hook) ?: register_ftrace_function(&hook->ops);
	hook->active = !ret;
	if (ret == -EBUSY)
		pr_err("sfjit: cannot hook %s: a live patch or another module has it\n",
		       hook->name);
	else if (ret)
		pr_err("sfjit: cannot hook %s (%d)\n", hook->name, ret);
	return ret;
}

/* Callers must wait for threads in the handler or in the replacement. */
void sfjit_hook_remove(struct sfjit_hook *hook)
{
	if (hook->active)
		unregister_ftrace_function(&hook->ops);
	hook->active = false;
}

/* Do not add the hook again: ftrace keeps a pointer to what this frees. */
void sfjit_hook_free(struct sfjit_hook *hook)
{
	sfjit_hook_remove(hook);
	if (hook->filtered)
		ftrace_free_filter(&hook->ops);
	hook->filtered = false;
}
