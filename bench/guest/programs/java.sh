# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: openjdk-21-jdk-headless
cat >Work.java <<'END'
import java.util.*;
public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] args) {
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < 15000; i++) map.put(i * 7919 % 15013, "value " + i);
        List<String> list = new ArrayList<>(map.values());
        for (int i = 0; i < 2; i++) { Collections.shuffle(list, new Random(i)); Collections.sort(list); }
        System.out.println(fib(25) + " " + map.size() + " " + list.get(777));
    }
}
END
! once || javac -d /tmp/java.work Work.java >&2
run java -Xshare:auto -XX:+UseSerialGC -cp /tmp/java.work Work
