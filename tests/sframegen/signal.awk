# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# readelf --debug-dump=frames: "start end" of the FDEs of signal frames.

$4 == "CIE" {
	cie = $1
}

$1 == "Augmentation:" {
	signal[cie] = $2 ~ /S/
}

$4 == "FDE" {
	split($5, part, "=")
	split($6, range, "[=.]+")
	if (signal[part[2]])
		print range[2], range[3]
}
