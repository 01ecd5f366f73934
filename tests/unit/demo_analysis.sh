#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the demo's figures are made of, on recordings whose figures are known.

set -eu
cd "$(dirname "$0")/../.."

if ! command -v python3 >/dev/null; then
	echo "skip - demo analysis: python3 is not installed"
	exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -B tests/demo/test_analysis.py "$tmp"
