# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: guile-3.0
cat >work.scm <<'END'
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(display (fib 21)) (newline)
(display (length (sort (map (lambda (i) (modulo (* i 7919) 100003)) (iota 10000)) <)))
(newline)
END
run guile --no-auto-compile work.scm
