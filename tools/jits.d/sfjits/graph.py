# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Known calls of a program, from a text. Lines:

name REGEX          the group of it is the name of a known function; only
                    symbols that it matches are known
hidden REGEX        frames with such a symbol are a function without its name,
                    as interpreted ones are
start NAME...       what code outside of the graph calls
CALLER > NAME...    calls directly: no frame is between the two
CALLER ~ NAME...    calls by other code, which is not from a code generator
CALLER * NAME...    calls by any code
each NAME...        each call between two of these has to be among the stacks
"""
import re

DIRECT, BY_OTHERS, ANYHOW = '>', '~', '*'
# Frames between two known functions: none, not generated ones, any.
NONE, OTHERS, ANY = range(3)


class GraphError(Exception):
    pass


class Graph:
    def __init__(self, lines):
        self.pattern = self.hidden = None
        self.starts, self.edges, self.each = set(), {}, set()
        for number, line in enumerate(lines, 1):
            words = line.partition('#')[0].split()
            if words and not self.take(words):
                raise GraphError('line %d: no line of a graph' % number)
        if not self.pattern or not self.starts:
            raise GraphError('no name or no start')

    def take(self, words):
        if words[0] == 'name' and len(words) == 2:
            self.pattern = re.compile(words[1])
        elif words[0] == 'hidden' and len(words) == 2:
            self.hidden = re.compile(words[1])
        elif words[0] == 'start':
            self.starts.update(words[1:])
        elif words[0] == 'each':
            self.each.update(words[1:])
        elif len(words) > 2 and words[1] in (DIRECT, BY_OTHERS, ANYHOW):
            for callee in words[2:]:
                self.edges.setdefault((words[0], callee), set()).add(words[1])
        else:
            return False
        return True

    def name(self, symbol):
        match = self.pattern.search(symbol) if symbol else None
        return match[1] if match else None

    def is_hidden(self, symbol):
        return bool(self.hidden and symbol and self.hidden.search(symbol))

    def missing(self, symbols, generated, complete=True):
        """
        The first pair that is no call, of a stack's symbols from the leaf on;
        @generated: which of them are from a code generator. None: all are.
        Behind the last of a stack that is not @complete its caller may follow.
        """
        last = at = None
        for i, symbol in enumerate(symbols):
            name = self.name(symbol)
            if name is None:
                continue
            if last is not None and not self.is_edge(
                    name, last, symbols[at + 1:i], generated[at + 1:i]):
                return '%s < %s' % (last, name)
            last, at = name, i
        # Where it ends at a known function, nothing is wrong: it is cut.
        if last is not None and at < len(symbols) - 1 and \
                not self.is_called_behind(last, symbols[at + 1:],
                                          generated[at + 1:], complete):
            return '%s < outside' % last
        return None

    def wanted(self):
        """Pairs (caller, callee) that have to be seen."""
        return {pair for pair in self.edges if self.each.issuperset(pair)}

    def pairs(self, symbols):
        """Known functions of a stack that follow each other."""
        known = [name for name in map(self.name, symbols) if name]
        return set(zip(known[1:], known))

    def calls(self, callee, between):
        """Who may call it if these are @between: None, OTHERS or ANY."""
        return {caller for (caller, name), kinds in self.edges.items()
                if name == callee and (ANYHOW in kinds or (
                    between == NONE and DIRECT in kinds or
                    between == OTHERS and BY_OTHERS in kinds))}

    def behind(self, name, symbols, generated):
        """
        In front of each of these, and behind the last: the known functions that
        may wait for a caller there, with what is between.
        """
        states = {(name, NONE)}
        for symbol, made in zip(symbols, generated):
            yield states
            new = {(name, max(between, ANY if made else OTHERS))
                   for name, between in states}
            new = {state for state in new if self.calls(*state)}
            if self.is_hidden(symbol):
                new |= {(caller, NONE) for state in states
                        for caller in self.calls(*state)}
            states = new
        yield states

    def is_called_behind(self, name, symbols, generated, complete):
        """Whether a start is there or, of a stack that is cut, may follow."""
        for states in self.behind(name, symbols, generated):
            if any(known in self.starts for known, _ in states):
                return True
        return bool(states) and not complete

    def is_edge(self, caller, callee, symbols, generated):
        *_, states = self.behind(callee, symbols, generated)
        return any(caller in self.calls(*state) for state in states)


def read(path):
    with open(path, encoding='utf-8') as file:
        try:
            return Graph(file)
        except (GraphError, re.error) as error:
            raise GraphError('%s: %s' % (path, error)) from error
