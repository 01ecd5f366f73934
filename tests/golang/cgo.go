// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors

//go:build cgo

package main

// static unsigned long spin(unsigned long x)
// {
//	int i;
//
//	for (i = 0; i < 3000; i++)
//		x = x * 6364136223846793005UL + 1442695040888963407UL;
//	return x;
// }
//
// __attribute__((noinline)) static unsigned long in_c(unsigned long x)
// {
//	return spin(x) + 1;
// }
//
// unsigned long called_back(unsigned long x);
//
// __attribute__((noinline)) static unsigned long calls_back(unsigned long x)
// {
//	return called_back(x) + 1;
// }
import "C"

//export called_back
func called_back(x C.ulong) C.ulong {
	compute()
	return x + C.ulong(sum)
}

//go:noinline
func native() { sum = uint64(C.in_c(C.ulong(sum))) }

//go:noinline
func back() { sum = uint64(C.calls_back(C.ulong(sum))) }

func init() {
	kinds["native"] = native
	kinds["back"] = back
}
