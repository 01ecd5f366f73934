# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: emacs-nox
run emacs --batch --eval '(with-temp-buffer
	(dotimes (i 800) (insert (format "%d some words in a line %d\n" (% (* i 7919) 801) i)))
	(sort-numeric-fields 1 (point-min) (point-max))
	(goto-char (point-min))
	(while (re-search-forward "\\([0-9]+\\)7 some" nil t) (replace-match "\\1x"))
	(princ (md5 (buffer-string))))'
