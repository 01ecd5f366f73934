# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: sbcl
cat >work.lisp <<'END'
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(compile 'fib)
(print (fib 24))
(let ((h (make-hash-table :test 'equal)))
  (dotimes (i 6000) (setf (gethash (format nil "k~d" i) h) (* i i)))
  (print (hash-table-count h)))
(print (length (sort (loop for i below 20000 collect (mod (* i 7919) 100003)) #'<)))
END
run sbcl --script work.lisp
