// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors

// chain ROUNDS [KIND...]: works below a chain of known calls.
//
// Prints the return addresses of the chain, "chain: ADDRESS...", from the innermost on,
// and then "ready". ROUNDS 0: until it is killed.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

var kinds = map[string]func(){
	"compute": compute, "memory": memory, "table": table, "garbage": garbage,
	"clock": clock, "calls": calls, "channel": channel,
}

var sum uint64
var data = make([]byte, 4096)

//go:noinline
func leaf(x uint64) uint64 { return x*6364136223846793005 + 1442695040888963407 }

//go:noinline
func compute() {
	for i := 0; i < 2000; i++ {
		sum = leaf(sum)
	}
}

// Assembly without frames.
//
//go:noinline
func memory() {
	to := make([]byte, len(data))
	for i := 0; i < 20; i++ {
		copy(to, data)
		sum += uint64(bytes.IndexByte(to, 1)) + uint64(bytes.Count(to, data[:1]))
	}
}

//go:noinline
func table() {
	m := map[int]int{}
	for i := 0; i < 100; i++ {
		m[i*i] += i
	}
	sum += uint64(m[49])
}

var kept [64][]byte

// The collector runs on the thread's own stack.
//
//go:noinline
func garbage() {
	for i := range kept {
		kept[i] = make([]byte, 2048+i)
	}
}

// The vDSO, on the thread's own stack.
//
//go:noinline
func clock() {
	for i := 0; i < 50; i++ {
		sum += uint64(time.Now().Nanosecond())
	}
}

//go:noinline
func calls() {
	for i := 0; i < 10; i++ {
		sum += uint64(syscall.Getppid())
	}
}

var ping, pong = make(chan int), make(chan int)

func answer() {
	for n := range ping {
		pong <- n
	}
}

//go:noinline
func channel() {
	ping <- 1
	sum += uint64(<-pong)
}

//go:noinline
func inner(work []func()) {
	for _, f := range work {
		f()
	}
	sum++
}

//go:noinline
func middle(work []func()) {
	inner(work)
	sum++
}

//go:noinline
func outer(work []func(), rounds int) {
	now := []func(){show}
	for i := -1; i != rounds; i++ {
		middle(now)
		now = work
	}
	sum++
}

func show() {
	var pcs [16]uintptr
	fmt.Print("chain:")
	for _, pc := range pcs[:runtime.Callers(2, pcs[:])] {
		fmt.Printf(" %x", pc)
	}
	fmt.Println("\nready")
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	var work []func()
	for _, name := range os.Args[2:] {
		if kinds[name] == nil {
			fmt.Fprintln(os.Stderr, "chain: no such kind:", name)
			os.Exit(2)
		}
		work = append(work, kinds[name])
	}
	go answer()
	if rounds == 0 {
		rounds = -2
	}
	outer(work, rounds)
}
