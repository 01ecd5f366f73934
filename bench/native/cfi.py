# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What sframegen says of the CFI of a file."""
import re


def cfi_bytes(said):
    """Bytes of .eh_frame and .eh_frame_hdr, 0 without CFI."""
    cfi = re.search(r'^CFI: (\d+) .* (\d+) bytes \.eh_frame_hdr', said, re.M)
    return int(cfi[1]) + int(cfi[2]) if cfi and cfi[1] != '0' else 0
