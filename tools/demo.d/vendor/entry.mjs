// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
//
// What flamegraph.bundle.js is made from; README.md has the command.
export { default as flamegraph } from "d3-flame-graph";
export { select } from "d3-selection";
