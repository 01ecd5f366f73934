# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: ocaml-nox
cat >work.ml <<'END'
module M = Map.Make (Int)
exception Found of int
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let find m = try M.iter (fun k v -> if v mod 1009 = 7 && k > 100 then raise (Found k)) m; 0
  with Found k -> k
let () =
  let m = ref M.empty in
  for i = 1 to 15000 do m := M.add (i * 7919 mod 15013) (i * i) !m done;
  let s = ref 0 in
  for _ = 1 to 30 do s := !s + find !m done;
  let l = List.sort compare (List.init 15000 (fun i -> (i * 31) mod 60007)) in
  Printf.printf "%d %d %d %d\n" (fib 24) (M.cardinal !m) !s (List.nth l 777)
END
! once || ocamlopt -o /tmp/ocaml.work work.ml >&2
run /tmp/ocaml.work
