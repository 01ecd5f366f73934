# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: mono-mcs mono-runtime
cat >work.cs <<'END'
using System; using System.Collections.Generic; using System.Linq;
class Work {
  static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
  static void Main() {
    var d = new Dictionary<int, string>();
    for (int i = 0; i < 10000; i++) d[i * 7919 % 10007] = "value " + i;
    var l = d.Values.OrderBy(s => s, StringComparer.Ordinal).ToList();
    Console.WriteLine(Fib(24) + " " + d.Count + " " + l[777]);
  }
}
END
! once || mcs -out:/tmp/mono.exe work.cs >&2
run mono /tmp/mono.exe
