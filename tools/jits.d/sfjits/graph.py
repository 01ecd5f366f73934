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
"""
import re

DIRECT, BY_OTHERS, ANYHOW = '>', '~', '*'


class GraphError(Exception):
    pass


class Graph:
    def __init__(self, lines):
        self.pattern = self.hidden = None
        self.starts, self.edges = set(), {}
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
                not self.is_start(last, symbols[at + 1:]) and \
                (complete or not self.is_called_behind(
                    last, symbols[at + 1:], generated[at + 1:])):
            return '%s < outside' % last
        return None

    def callers(self, names):
        return {caller for (caller, callee), kinds in self.edges.items()
                if callee in names and DIRECT in kinds}

    def is_start(self, name, behind):
        names = {name}
        for symbol in behind:
            if names & self.starts or not self.is_hidden(symbol):
                break
            names = self.callers(names)
        return bool(names & self.starts)

    def kinds(self, names):
        return {kind for (_, callee), kinds in self.edges.items()
                if callee in names for kind in kinds}

    def is_called_behind(self, name, symbols, generated):
        """Whether these are between it and its caller."""
        names = {name}
        for i, symbol in enumerate(symbols):
            kinds = self.kinds(names)
            if ANYHOW in kinds or \
                    BY_OTHERS in kinds and not any(generated[i:]):
                return True
            if not self.is_hidden(symbol):
                return False
            names = self.callers(names)
        return bool(names)

    def is_edge(self, caller, callee, symbols, generated):
        kinds = self.edges.get((caller, callee), ())
        if ANYHOW in kinds:
            return True
        if symbols and all(self.is_hidden(symbol) for symbol in symbols):
            names = {callee}
            for _ in symbols:
                names = self.callers(names)
            return caller in self.callers(names)
        if any(generated):
            return False
        return (BY_OTHERS if symbols else DIRECT) in kinds


def read(path):
    with open(path, encoding='utf-8') as file:
        try:
            return Graph(file)
        except (GraphError, re.error) as error:
            raise GraphError('%s: %s' % (path, error)) from error
