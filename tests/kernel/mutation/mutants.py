# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Finds the checks of a C file in kernel style and takes them out, one each.

A check is an operand of `||' in the condition of an `if' whose statement
refuses: returns a reason, an error, NULL, true or false, or leaves a loop.
Conditions that only pass on what a function said (`if (ret)') are not checks.
A mutant still evaluates its check, for what that does besides, and then takes
it as not met.
"""
import re
from dataclasses import dataclass

REFUSAL = re.compile(
    r'(?:return (?P<what>SFRAME_REASON_[A-Z_]+|SFRAME_NR_REASONS|'
    r'UNWIND_ASSIST_[A-Z_]+|-E[A-Z0-9]+|'
    r'NULL|true|false)?;|return unwind_user_refuse\([^;]*;|'
    r'return \(struct sframe_range\)\{|'
    r'break;|continue;|goto \w+;)')
PASSED_ON = re.compile(r'^!?(?:reason|ret)$')
FUNCTION = re.compile(r'^(?:[a-z_][\w \t*]*[ \t*])?(\w+)\((?!\()', re.M)
IF = re.compile(r'\bif \(')


@dataclass
class Mutant:
    path: str
    function: str
    check: str
    refusal: str    # what is returned, or ''
    start: int      # where to replace
    end: int
    old: str        # what is there
    text: str       # by what
    is_check: bool  # or a statement

    def name(self):
        path = self.path.removeprefix('kernel/unwind/')
        return f'{path}: {self.function}(): {self.check}'


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def without_comments(source):
    """The same, at the same places, with spaces for comments and strings."""
    source = re.sub(r'/\*.*?\*/|//[^\n]*', blank, source, flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', blank, source)


def closing(code, start, pair='()'):
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] == pair[0]) - (code[i] == pair[1])
        if not depth:
            return i
    raise ValueError('no end of parenthesis')


def statement(code, start):
    while code[start].isspace():
        start += 1
    if code[start] == '{':
        return code[start:closing(code, start, '{}') + 1]
    return code[start:code.index(';', start) + 1]


def split(code, start, end, operator):
    """Ranges of the operands of a binary operator at the top level."""
    depth, at, ranges = 0, start, []
    for i in range(start, end):
        depth += code[i] in '([{'
        depth -= code[i] in ')]}'
        if not depth and code.startswith(operator, i):
            ranges.append((at, i))
            at = i + len(operator)
    return ranges + [(at, end)]


def trim(code, start, end):
    while code[start].isspace():
        start += 1
    while code[end - 1].isspace():
        end -= 1
    return start, end


def operands(code, start, end):
    """Each part that refuses for itself: (a || b), c && (a || b)."""
    parts = split(code, start, end, '||')
    if len(parts) > 1:
        for part in parts:
            yield from operands(code, *part)
        return
    for part in split(code, start, end, '&&'):
        low, high = trim(code, *part)
        if code[low] == '(' and closing(code, low) == high - 1 and \
                len(split(code, low + 1, high - 1, '||')) > 1:
            yield from operands(code, low + 1, high - 1)
            return
    yield trim(code, start, end)


def function_at(code, where):
    found = [m for m in FUNCTION.finditer(code, 0, where)]
    return found[-1].group(1) if found else '?'


def find(path, source):
    """The mutants of one file, in its order."""
    code = without_comments(source)
    for match in IF.finditer(code):
        start = match.end() - 1
        end = closing(code, start)
        refused = statement(code, end + 1)
        refusal = REFUSAL.search(refused)
        condition = ' '.join(code[start + 1:end].split())
        if not refusal or PASSED_ON.match(condition):
            continue
        what = refusal.groupdict().get('what') or ''
        if what == 'SFRAME_REASON_NONE':
            continue
        for low, high in operands(code, start + 1, end):
            check = ' '.join(source[low:high].split())
            yield Mutant(path, function_at(code, match.start()), check,
                         what, low, high, source[low:high],
                         f'((void)({source[low:high]}), 0)', True)


# What limits or protects without an `if': path, text, replacement.
OTHERS = (
    ('kernel/unwind/sframe.h',
     '/* See sframe_changed(). */\n\tsmp_rmb();', ''),
    ('kernel/unwind/sframe.h',
     'likely(READ_ONCE(walk->reg->seq) == walk->seq)', '1'),
    ('kernel/unwind/sframe.c',
     'word & (U32_MAX >> (32 - (8 << SFRAME_FRE_WORD_SIZE(row->info))))',
     'word'),
    ('kernel/unwind/sframe.c', 'return walk->window == window;',
     'return true;'),
    ('kernel/unwind/sframe.c', 'tries < 2', 'tries < 1'),
    ('kernel/unwind/sframe.c',
     'walk->budget -= SFRAME_INTERVAL - walk->slack;', ''),
    ('kernel/unwind/sframe.c', 'walk->slack -= SFRAME_STACK_READS;', ''),
    ('kernel/unwind/sframe.c', 'if (likely(--walk->slack >= 0))', 'if (1)'),
    ('kernel/unwind/sframe.c',
     'sframe_clock_stop(walk);\n\t\t\treturn -ENOENT;', 'return -ENOENT;'),
    ('kernel/unwind/sframe.c',
     'sframe_clock_stop(walk);\n\t\treturn -ENOENT;', 'return -ENOENT;'),
    ('kernel/unwind/sframe.c', 'sframe_clock_go_on(walk);', ''),
    ('kernel/unwind/sframe.c', 'walk->budget = budget;', ''),
    ('kernel/unwind/sframe.c', 'walk->slack = slack;', ''),
    ('kernel/unwind/sframe.c',
     'state->sframe.slack -= SFRAME_PROBE_READS;', ''),
    ('kernel/unwind/sframe.c', 'sframe_walk_budget(frames, sample)',
     'sframe_walk_budget(0, sample)'),
    ('kernel/unwind/sframe.h', 'max(frames, SFRAME_MIN_FRAMES)', 'frames'),
    ('kernel/unwind/sframe.h',
     'sample ? budget : budget + SFRAME_LONGEST_FDE', 'budget'),
    ('kernel/unwind/sframe.h',
     'walk->deadline += local_clock() - walk->stopped;', ''),
    ('kernel/unwind/sframe.h', 'walk->stopped = 0;', ''),
    ('kernel/unwind/sframe.h',
     'state->exact_ip ? state->ip : state->ip - 1', 'state->ip'),
    ('kernel/unwind/sframe.h', 'ip - walk->first < walk->length', '1'),
    ('kernel/unwind/sframe.h', 'kept->window = walk->window;', ''),
    ('kernel/unwind/sframe.h', 'kept->length = walk->length;', ''),
    ('kernel/unwind/sframe.c', 'sframe_drop_ranges(walk);\n\twalk->seq = seq;',
     'walk->seq = seq;'),
    ('kernel/unwind/sframe.h',
     'sframe_read_files_seq() == walk->files_seq', '1'),
    ('kernel/unwind/sframe.c', 'walk->looks++ % SFRAME_KEPT_RANGES', '0'),
    ('kernel/unwind/sframe_packed.c',
     'length = min(length, (u32)header->repeat);', ''),
    ('kernel/unwind/sframe_packed.c',
     'packed->repeat ? offset % packed->repeat : offset', 'offset'),
    ('kernel/unwind/sframe_packed.c',
     'offset = sframe_rule_offset(packed, offset);', ''),
    ('kernel/unwind/sframe_packed.c',
     'packed->text_start = header->text_start + bias;',
     'packed->text_start = header->text_start;'),
    ('kernel/unwind/sframe_packed.c',
     'array_index_nospec(offset, packed->text_length)', 'offset'),
    ('kernel/unwind/sframe_packed.c', 'ip - state->sframe.bias', 'ip'),
    ('kernel/unwind/sframe_packed.c', 'copied ? walk->bias : 0', '0'),
    ('kernel/unwind/sframe.h', 'kept->bias = walk->bias;', ''),
    ('kernel/unwind/sframe.h', 'walk->bias = range.bias;', ''),
    ('kernel/unwind/sframe_packed.c', 'at = end;', ';'),
    ('kernel/unwind/sframe_packed.c',
     'word &= ~((u64)U8_MAX << SFRAME_FIRST_BYTE);', ''),
    ('kernel/unwind/sframe_packed.c', 'state->sframe.slack--;', ''),
    ('kernel/unwind/sframe_packed.c',
     'state->sframe.slack -= SFRAME_PACKED_READS;', ''),
    ('kernel/unwind/sframe_packed.c',
     'sframe_table_ptr(packed->blocks + off, copied)',
     '(const u8 __user *)(packed->blocks + off)'),
    ('kernel/unwind/sframe_packed.c', 'pos->topmost = false;',
     'pos->topmost = true;'),
    ('kernel/unwind/sframe_packed.c',
     'pos->switches = UNWIND_USER_MAX_SWITCHES;', 'pos->switches = 0;'),
    ('kernel/unwind/sframe_packed.c', 'state->sp_bound = pos->sp_bound;', ';'),
    ('kernel/unwind/sframe_packed.c', 'walk->slack = pos.sframe.slack;',
     ''),
    ('kernel/unwind/sframe_packed.c', 'pos->sframe.slack -= cost;', ''),
    ('kernel/unwind/sframe_packed.c',
     'copied ? SFRAME_COPIED_STEP : SFRAME_PACKED_STEP',
     'SFRAME_COPIED_STEP'),
    ('kernel/unwind/sframe_packed.c',
     'copied ? SFRAME_COPIED_STEP : SFRAME_PACKED_STEP',
     'SFRAME_PACKED_STEP'),
    ('kernel/unwind/sframe_packed.c', 'array_index_nospec(offset, run.length)',
     'offset'),
    ('kernel/unwind/sframe_packed.c', 'length -= start - first;', ''),
    ('kernel/unwind/sframe_packed.c', 'run->skip = first - start;',
     'run->skip = 0;'),
    ('kernel/unwind/sframe_packed.c',
     'min(length, packed->text_length - run->skip)', 'length'),
    ('kernel/unwind/sframe_packed.c',
     'min(length, packed->text_length - run->skip)',
     'packed->text_length - run->skip'),
    ('kernel/unwind/sframe_packed.c', 'at == ips ? state->ip : at[-1]',
     'state->ip'),
    ('kernel/unwind/sframe_packed.c',
     'sframe_is_packed(walk->window) &&\n'
     '\t\t sframe_is_copied(walk->window) == copied',
     'sframe_is_copied(walk->window) == copied'),
    ('kernel/unwind/sframe_packed.c',
     'sframe_is_packed(walk->window) &&\n'
     '\t\t sframe_is_copied(walk->window) == copied',
     'sframe_is_packed(walk->window)'),
    ('kernel/unwind/sframe_packed.c',
     'sframe_find_window(walk, state->ip - 1);', ''),
    ('kernel/unwind/sframe_packed.c', '!walk->window', '1'),
    ('kernel/unwind/sframe_packed.c', 'max = min(max, SFRAME_STEPS);', ''),
    ('kernel/unwind/sframe_packed.c', 'sframe_clock_stop(walk);', ''),
    ('kernel/unwind/sframe_packed.c', 'SFRAME_PACKED_KIND(U8_MAX) | others',
     'SFRAME_PACKED_KIND(U8_MAX)'),
    ('kernel/unwind/sframe_packed.c', 'sframe_clock_go_on(walk);', ''),
    ('kernel/unwind/sframe_packed.c', 'walk->slack = 0;', ''),
    ('kernel/unwind/sframe_packed.c', '!sframe_unchanged(walk)', '0'),
    ('kernel/unwind/sframe_packed.c', 'frame->third = rule->third;',
     'frame->third = UNWIND_USER_THIRD_UNKNOWN;'),
    ('kernel/unwind/sframe_packed.c', 'state->third = caller->third;', ''),
    ('kernel/unwind/sframe_packed.c', 'state->third = pos->third;', ''),
    ('kernel/unwind/sframe_step.h', 'frame->third = UNWIND_USER_THIRD_UNKNOWN;',
     'frame->third = UNWIND_USER_THIRD_KEPT;'),
    ('kernel/unwind/signal.h', 'state->third = caller->third;', ''),
    ('kernel/unwind/user.h', 'state->third = caller->third;', ''),
    ('kernel/unwind/user.h', 'cfa - frame->third * sizeof(long)', 'cfa'),
    ('kernel/unwind/user.h',
     'third ? state->third == UNWIND_USER_IN_REGS : state->topmost',
     'state->topmost'),
    ('kernel/unwind/sframe.c', 'addr + rel + section->bias', 'addr + rel'),
    ('kernel/unwind/sframe_section.c',
     'addr + fde.func_start + section->bias', 'addr + fde.func_start'),
    ('kernel/unwind/signal.h', 'state->regs = NULL;', ''),
    ('kernel/unwind/signal.h', 'state->signals++;', ''),
    ('kernel/unwind/signal.h', 'state->exact_ip = true;', ''),
    ('kernel/unwind/user.h',
     'return mask_user_address((const void __user *)addr);',
     'return (const void __user *)addr;'),
    ('kernel/unwind/user.h',
     'return mask_user_address((const u8 __user *)addr);',
     'return (const u8 __user *)addr;'),
    ('kernel/unwind/user.h',
     'array_index_nospec(addr, TASK_SIZE_MAX)', 'addr'),
    ('kernel/unwind/user.h', 'state->exact_ip = false;', ''),
    ('kernel/unwind/user.h', 'state->topmost = false;', ''),
    ('kernel/unwind/uprobes.h', '!nearest || ri->stack < nearest->stack', '1'),
    ('kernel/unwind/uprobes.h', '*slot = nearest->stack;', ''),
    ('kernel/unwind/user.h', '.ra_copied = true,', '.ra_copied = false,'),
    ('kernel/unwind/sframe_registry.c', 'ret = sframe_charge(reg, 1 + keys);',
     'ret = 0;'),
    ('kernel/unwind/sframe_registry.c', 'ret = sframe_charge(new, nr);',
     'ret = 0;'),
    ('kernel/unwind/sframe_registry.c',
     'WRITE_ONCE(reg->nr, reg->nr - 1);\n\tsframe_uncharge(reg, 1);',
     'WRITE_ONCE(reg->nr, reg->nr - 1);'),
    ('kernel/unwind/sframe_registry.c',
     'WRITE_ONCE(reg->nr_keys, reg->nr_keys - 1);\n\tsframe_uncharge(reg, 1);',
     'WRITE_ONCE(reg->nr_keys, reg->nr_keys - 1);'),
    ('kernel/unwind/sframe_registry.c',
     'sframe_uncharge(reg, reg->nr + reg->nr_keys);', ''),
    ('kernel/unwind/sframe_registry.c',
     'window && window->key == key ? window : mas_walk(&mas)', 'mas_walk(&mas)'),
    ('kernel/unwind/sframe_registry.c', 'window && window->key == key',
     'window'),
    ('kernel/unwind/sframe_registry.c',
     'if (sframe_is_keyed(old) && !sframe_is_keyed(window))', 'if (0)'),
    ('kernel/unwind/sframe_registry.c',
     'smp_store_release(&reg->seq, reg->seq + 1);', ''),
    ('kernel/unwind/sframe_registry.c', 'mt_clear_in_rcu(tree);', ''),
    ('kernel/unwind/sframe_seq.c',
     'if (window->text_start >= *pos)', ''),
    ('kernel/unwind/assist.c',
     'clear_bit(UNWIND_ASSIST_OPEN, &assist->state);', ''),
    ('kernel/unwind/assist.c',
     'unwind_assist_settle_native(assist, UNWIND_ASSIST_LATE);', ''),
    ('kernel/unwind/assist.c',
     'in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME', 'TWA_RESUME'),
    ('kernel/unwind/assist.c',
     '(u64)current->seccomp.mode << 32', '0'),
    ('kernel/unwind/assist.c',
     'if (syscall_get_nr(current, regs) != -1)', 'if (true)'),
    ('kernel/unwind/assist.c',
     'return test_syscall_work(SYSCALL_USER_DISPATCH);', 'return false;'),
    ('kernel/unwind/assist.c', 'unwind_user_sigframe_size() + MINSIGSTKSZ',
     'MINSIGSTKSZ'),
    ('kernel/unwind/assist.c',
     'return assist->flags & UNWIND_ASSIST_ANY_STACK;', 'return true;'),
    ('kernel/unwind/assist.c', 'assist->token++;', ''),
    ('kernel/unwind/assist.c', 'assist->cookie = info->id.id;', ''),
    ('kernel/unwind/assist.c',
     'assist->asked = ktime_get_mono_fast_ns();', ''),
    ('kernel/unwind/assist.c', 'cache->nr_entries = 0;', ''),
    ('kernel/unwind/assist.c', 'READ_ONCE(walk->unwind_completed) | bits', '0'),
    ('kernel/unwind/assist.c',
     'atomic_long_set(&info->withheld, bits);', ''),
    ('kernel/unwind/assist.c', 'atomic_long_and(mask, &info->withheld);', ''),
    ('kernel/unwind/assist.c',
     'set_mask_bits(&cache->unwind_completed, ~mask, 0);', ''),
    ('kernel/unwind/assist.c', 'set_bit(UNWIND_ASSIST_OPEN, &assist->state);',
     ''),
    ('kernel/unwind/assist.c',
     'sigdelset(&current->pending.signal, q->info.si_signo);', ''),
    ('kernel/unwind/assist.c',
     'sigaddset(&current->pending.signal,\n\t\t\t\t\t  q->info.si_signo);',
     ';'),
    ('kernel/unwind/assist.c', 'assist->flags = parent->flags;', ''),
    ('kernel/unwind/assist.c', 'assist->seccomp = parent->seccomp;', ''),
    ('kernel/unwind/assist.c', 'kfree(task->unwind_info.assist->cache);', ''),
    ('kernel/unwind/assist.c', 'WRITE_ONCE(assist->signal, 0);', ''),
    ('kernel/unwind/assist.c',
     'assist->signal != signal && unwind_assist_unqueue(assist)', 'false'),
    ('kernel/unwind/assist.c',
     'unwind_assist_settle_native(assist, UNWIND_ASSIST_SETTLED);', ''),
    ('kernel/unwind/assist.c', 'atomic_long_set(&assist->counts[i], 0);', ''),
    ('kernel/unwind/assist.c',
     'min_t(unsigned long, nr, cache->nr_entries)', 'nr'),
    ('kernel/unwind/assist.c', 'trace.entries = frames;',
     'trace.entries = frames; trace.assisted = false;'),
)


def others(path, source):
    for where, old, new in OTHERS:
        if where != path:
            continue
        if source.count(old) != 1:
            raise ValueError(f'{path}: not once: {old}')
        start = source.index(old)
        code = without_comments(source)
        yield Mutant(path, function_at(code, start), ' '.join(old.split()),
                     '', start, start + len(old), old, new, False)
