// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* An unwinder that accepts everything; libgcc's aborts on mistakes. */
void __register_frame(void *begin)
{
}

void __deregister_frame(void *begin)
{
}
