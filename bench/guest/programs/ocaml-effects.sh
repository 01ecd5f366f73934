# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: quick
# packages: ocaml-nox
cat >work.ml <<'END'
open Effect
open Effect.Deep
type _ Effect.t += Yield : int -> int Effect.t
let rec produce n = if n > 0 then (ignore (perform (Yield n)); produce (n - 1))
let consume n =
  let sum = ref 0 in
  match_with produce n
    { retc = (fun () -> !sum); exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Yield v -> Some (fun (k : (a, _) continuation) ->
            sum := !sum + Hashtbl.hash (string_of_int v) mod 10; continue k v)
        | _ -> None }
let worker i = let rec go n s = if n = 0 then s else go (n - 1) (s + consume (200 + i)) in go 60 0
let () =
  let ds = List.init 2 (fun i -> Domain.spawn (fun () -> worker i)) in
  Printf.printf "%d\n" (List.fold_left (fun s d -> s + Domain.join d) 0 ds)
END
! once || ocamlopt -o /tmp/ocaml.effects work.ml >&2
run /tmp/ocaml.effects
