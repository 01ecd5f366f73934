# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: large
# packages: rustc
cat >work.rs <<'END'
use std::collections::HashMap;
fn count(text: &str) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    for word in text.split_whitespace() { *found.entry(word.to_string()).or_insert(0) += 1; }
    found
}
pub fn most(text: &str) -> Vec<(String, usize)> {
    let mut all: Vec<_> = count(text).into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}
END
run rustc --crate-type=lib -C codegen-units=1 -O work.rs
