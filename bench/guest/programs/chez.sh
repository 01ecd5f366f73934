# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: chezscheme
cat >work.ss <<'END'
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(display (fib 25)) (newline)
(display (list-ref (sort < (map (lambda (i) (modulo (* i 7919) 100003)) (iota 20000))) 777))
(newline)
END
run chezscheme --script work.ss
