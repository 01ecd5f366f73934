# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: swi-prolog-nox
cat >work.pl <<'END'
queens(N, Qs) :- numlist(1, N, Ns), select_all(Ns, [], Qs).
select_all([], Qs, Qs).
select_all(Ns, Acc, Qs) :- select(Q, Ns, Rest), safe(Q, 1, Acc), select_all(Rest, [Q|Acc], Qs).
safe(_, _, []).
safe(Q, D, [P|Ps]) :- Q =\= P + D, Q =\= P - D, D1 is D + 1, safe(Q, D1, Ps).
:- initialization((queens(8, Qs), print(Qs), nl, findall(Q, queens(6, Q), L), length(L, N), print(N), nl, halt)).
END
run swipl work.pl
