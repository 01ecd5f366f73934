# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: erlang-base
run erl -noshell +S 1 -eval 'F = fun F(N) when N < 2 -> N; F(N) -> F(N - 1) + F(N - 2) end,
io:format("~p~n", [F(16)]), L = lists:sort([X * 7919 rem 100003 || X <- lists:seq(1, 20000)]),
io:format("~p ~p~n", [lists:nth(777, L), erlang:phash2(term_to_binary(L))]), halt().'
