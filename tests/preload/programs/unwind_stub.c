// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* To link with in place of LLVM's libunwind, whose names have no versions. */
#define NAME(name) void name(void); void name(void) {}

NAME(_Unwind_Backtrace)
NAME(_Unwind_GetIP)
NAME(__register_frame)
NAME(__deregister_frame)
NAME(__unw_add_dynamic_fde)
NAME(__unw_remove_dynamic_fde)
NAME(__unw_add_dynamic_eh_frame_section)
NAME(__unw_remove_dynamic_eh_frame_section)
