# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: frame-pointers
# packages: python3 zlib1g
# shellcheck source=bench/guest/frame-pointers.sh
. "$here/../frame-pointers.sh"
cat >work.py <<'END'
import json
import re
import zlib

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

lines = [f'host{i % 7} GET /item/{i * 7919 % 4001} {i % 977}' for i in range(1500)]
found = [re.match(r'(\w+) (GET|POST) (\S+) (\d+)', line).groups() for line in lines]
text = json.dumps(sorted(found, key=lambda group: (group[2], int(group[3]))))
print(fib(15), len(zlib.compress(text.encode())), len(json.loads(text)))
END
run "$fp/bin/python3.13" work.py
