# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the tests, the demo and tools/jits need, as make targets:
#
#   make -f tools/needs.mk NEED...          makes them
#   make -f tools/needs.mk PLAN=y NEED...   makes nothing: each need prints a
#                   line "NAME|SECONDS MIB|GIB|PACKAGE...|ENTRY"
#
# packages.NEED	Debian 12's and 13's names; tools/setup.sh installs them first
# cost.NEED	seconds of one CPU, and MiB of the cache, while the cache has no
#		directory ENTRY-*
# entry.NEED	ENTRY, if it is not NEED
# memory.NEED	GiB that must be free
#
# With DONE=DIRECTORY each need that was made leaves a file there.
# $(call build,TEXT,TARGET...) makes targets of the Makefile, build/ stands for
# $O; $(call run,COMMAND) runs a command from the top of the tree.

ifdef PLAN
build = @echo "$@|$(cost.$@)|$(memory.$@)|$(packages.$@)|$(or $(entry.$@),$@)"
run = $(build)
else
done = $(and $(DONE),&& : >$(DONE)/$@)
build = @tools/step $@ "building $1" tools/make $2 $(done)
run = @$1 >/dev/null $(done)
endif
nothing = $(call run,:)

.PHONY: FORCE
FORCE:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# Compilers and tools

packages.compiler := binutils ccache gcc libc6-dev make
packages.python := python3
packages.archive := ca-certificates xz-utils
packages.documents := man-db mandoc python3 python3-docutils
packages.perf := linux-perf
packages.browser := chromium
packages.gdb := gdb
packages.lli := clang llvm python3
packages.git := git
packages.prove := perl
packages.elf-headers := libdw-dev libelf-dev
packages.fuzzer := clang libclang-rt-dev llvm python3
memory.fuzzer := 3
packages.compiler-aarch64 := gcc-aarch64-linux-gnu libc6-dev-arm64-cross
packages.compiler-ppc64le := gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
packages.compiler-riscv64 := gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
packages.compiler-s390x := gcc-s390x-linux-gnu libc6-dev-s390x-cross
arches := aarch64 ppc64le riscv64 s390x
package_needs := compiler python archive documents perf browser gdb lli git prove \
	elf-headers fuzzer compilers $(arches:%=compiler-%)
$(package_needs): FORCE
	$(nothing)
browser: python
lli elf-headers: compiler
fuzzer: elf-headers
compilers: $(arches:%=compiler-%)

# What comes from the archive, for one machine or several

entry.assembler := binutils
cost.assembler := 15 130
assembler: archive
	$(call run,tools/binutils as)

cost.python-headers := 5 30
python-headers: archive
	$(call run,tools/python-headers)

cost.python_headers_arm64 := 5 30
python_headers_arm64: archive
	$(call run,tools/python-headers aarch64)

cost.python_headers_s390x := 5 30
python_headers_s390x: archive
	$(call run,tools/python-headers s390x)

cost.elf := 5 60
elf: archive
	$(call run,tools/elf)

cost.elf_arm64 := 15 60
cost.elf_s390x := 15 60
elf_arm64 elf_s390x: elf_%: archive
	$(call run,tools/elf $*)

cost.libelf_arm64 := 5 5
libelf_arm64: archive
	$(call run,tools/libelf aarch64)

cost.libelf_s390x := 5 5
libelf_s390x: archive
	$(call run,tools/libelf s390x)

cost.libunwind := 5 1
cost.musl := 5 10
cost.cpython := 15 85
cost.elfutils := 5 10
cost.llvm := 15 160
cost.luajit := 5 30
libunwind musl cpython elfutils llvm luajit: archive
	$(call run,tools/$@)

cost.golang := 80 20
golang: archive compiler
	$(call run,tools/golang)

# Programs

packages.unit-programs := g++ liblua5.4-dev pkgconf python3
cost.unit-programs := 30 0
unit-programs: elf-headers
	$(call build,the programs of the tests on this machine,unit-programs)

cost.diff-programs := 15 0
diff-programs: elf-headers assembler
	$(call build,what compares with binutils and elfutils,diff-programs)

# Each compares what it makes of the libraries of others.
$(foreach m,$(arches),$(eval packages.arch-$m := qemu-user) \
	$(eval cost.arch-$m := 20 0))
$(arches:%=arch-%): arch-%: elf-headers compilers
	$(call build,the libraries for $*,arch-programs-$*)

cost.sfjit := 25 0
sfjit: elf-headers assembler python-headers
	$(call build,the commands and libraries,all python)

packages.programs := liblua5.4-dev python3
cost.programs := 40 0
programs: elf-headers assembler python-headers
	$(call build,sfjit and its tests,all tests)

cpython-reader: compiler cpython python-headers
	$(call build,the reader of CPython's rows,cpython-reader)

cost.edges-aarch64 := 20 0
cost.edges-s390x := 20 0
edges-aarch64 edges-s390x: edges-%: elf-headers compiler-%
	$(call build,sfjit run for $*,arch-edges-$*)

cost.sfjit-aarch64 := 25 0
cost.sfjit-s390x := 25 0
sfjit-aarch64: libelf_arm64 python_headers_arm64
sfjit-s390x: libelf_s390x python_headers_s390x
sfjit-aarch64 sfjit-s390x: sfjit-%: elf-headers compiler-%
	$(call build,sfjit for $*,arch-guest-$*)

cost.bench-aarch64 := 15 0
cost.bench-s390x := 15 0
bench-aarch64: elf_arm64
bench-s390x: elf_s390x
bench-aarch64 bench-s390x: bench-%: elf-headers compiler-%
	$(call build,the benchmark of walks for $*,arch-bench-$*)

cost.chain-riscv64 := 10 0
chain-riscv64: elf-headers compiler-riscv64
	$(call build,a program with trampolines for RISC-V,arch-chain-riscv64)

cost.dwflst := 5 0
dwflst: compiler elfutils
	$(call build,the judge of call chains,dwflst)

packages.jits-programs := clang
cost.jits-programs := 5 0
jits-programs: elf-headers
	$(call build,the programs of tools/jits,jits-programs)

packages.llvm-examples := clang g++
cost.llvm-examples := 25 0
llvm-examples: compiler llvm
	$(call build,the examples for LLVM,llvm-examples)

packages.java-class := default-jdk-headless
cost.java-class := 30 10
java-class: compiler
	$(call build,a program for Java,jits-java)

# Fuzz targets

cost.fuzz-source := 10 0
fuzz-source: linux
	$(call build,what of the kernel is fuzzed,build/tests/kernel/fuzz-tree/done)

packages.fuzz-replays := python3
cost.fuzz-replays := 40 0
fuzz-replays: fuzz-source elf-headers
	$(call build,the replays of the fuzz targets,fuzz-replays)

cost.real-stacks := 10 0
real-stacks: fuzz-source
	$(call build,the replay of recorded stacks,build/tests/kernel/fuzz/replay-stacks)

cost.fuzz-programs := 60 0
fuzz-programs: fuzz-source fuzzer
	$(call build,the fuzz targets,fuzz-programs build/tests/kernel/fuzz/kernel-flip)

packages.fuzz-big-endian := qemu-user python3
cost.fuzz-big-endian := 25 0
fuzz-big-endian: fuzz-source compiler-s390x
	$(call build,the replays of the fuzz targets for s390x,fuzz-big-endian)

cost.fuzz-machines := 60 0
fuzz-machines: fuzz-source fuzzer
	$(call build,the fuzz targets for other machines,fuzz-machines)

# Kernels: tools/kernel builds one at a time, with all CPUs

packages.linux := patch
cost.linux := 30 2200
linux: archive compiler
	$(call run,tools/kernel origin)

packages.kernel-tools := bc bison flex libelf-dev perl python3
kernel-tools: linux
	$(nothing)

kernels := patched unpatched aarch64 s390x debug kcsan aarch64_debug \
	s390x_debug bpf
cost.kernel-patched := 660 500
cost.kernel-unpatched := 660 500
cost.kernel-aarch64 := 660 500
cost.kernel-s390x := 660 500
cost.kernel-debug := 900 3000
cost.kernel-kcsan := 800 900
cost.kernel-aarch64_debug := 1500 1500
cost.kernel-s390x_debug := 1500 1500
cost.kernel-bpf := 700 500
$(kernels:%=kernel-%): kernel-%: kernel-tools
	$(call run,tools/kernel image $*)
kernel-aarch64 kernel-aarch64_debug: compiler-aarch64
kernel-s390x kernel-s390x_debug: compiler-s390x

packages.kernel-riscv64 := kmod
entry.kernel-riscv64 := debian_kernel_riscv64
cost.kernel-riscv64 := 25 45
kernel-riscv64: archive
	$(call run,tools/debian-kernel riscv64)

stock := 6.1 6.12 debian-12
$(foreach series,$(stock),\
	$(eval packages.kernel-stock-$(series) := kmod mmdebstrap) \
	$(eval entry.kernel-stock-$(series) := stock_kernel_$(series)) \
	$(eval cost.kernel-stock-$(series) := 60 130))
$(stock:%=kernel-stock-%): kernel-stock-%: archive
	$(call run,tools/stock-kernel $*)

# The packages: the kernel's own scripts/package/mkdebian says so.
packages.kernel-package := bc bison cpio debhelper dpkg-dev flex gcc kmod \
	libc6-dev libdw-dev libelf-dev libssl-dev make python3 rsync zstd
cost.kernel-package := 800 4500
kernel-package: archive
	$(call run,tools/kernel-package --config=small)

packages.series := git liburcu-dev pkgconf python3-git python3-ply
series: kernel-tools
	$(nothing)

cost.selftests := 40 0
selftests: linux elf-headers
	$(call build,the kernel's selftests,kselftests)

cost.selftests-aarch64 := 10 0
cost.selftests-s390x := 10 0
selftests-aarch64 selftests-s390x: selftests-%: linux elf-headers compiler-%
	$(call build,the kernel's selftests for $*,arch-kselftests-$*)

$(filter-out module-unpatched module-bpf,$(kernels:%=module-%)): module-%: \
		kernel-%
	$(call run,env SFJIT_KERNEL=$* tests/kernel/selftests/build module)
module-patched module-debug module-kcsan: selftests
module-aarch64 module-aarch64_debug: selftests-aarch64
module-s390x module-s390x_debug: selftests-s390x

# Root file systems: tools/rootfs makes one at a time

packages.rootfs := e2fsprogs mmdebstrap
cost.rootfs := 25 300
rootfs: archive
	$(call run,tools/rootfs)

cost.rootfs_arm64 := 25 330
cost.rootfs_riscv64 := 25 330
cost.rootfs_s390x := 25 300
packages.rootfs_arm64 := $(packages.rootfs)
packages.rootfs_riscv64 := $(packages.rootfs)
packages.rootfs_s390x := $(packages.rootfs)
rootfs_arm64 rootfs_riscv64 rootfs_s390x: rootfs_%: archive
	$(call run,tools/rootfs --arch=$*)

entry.rootfs-openssl := rootfs_with
entry.rootfs-lua := rootfs_with
entry.rootfs-bpftrace := rootfs_with
rootfs-openssl: with := openssl
rootfs-lua: with := lua5.4,liblua5.4-0
rootfs-bpftrace: with := bpftrace,libc6-dev
cost.rootfs-openssl := 80 330
cost.rootfs-lua := 80 330
cost.rootfs-bpftrace := 60 500
rootfs-openssl rootfs-lua rootfs-bpftrace: rootfs
	$(call run,tools/rootfs --with=$(with))

cost.rootfs-machine := 100 700
rootfs-machine: rootfs
	$(call run,tests/system/machine/rootfs)

$(foreach i,small large java,$(eval entry.rootfs-jits-$i := rootfs_with))
cost.rootfs-jits-small := 120 520
cost.rootfs-jits-large := 120 640
cost.rootfs-jits-java := 90 330
rootfs-jits-small rootfs-jits-large rootfs-jits-java: rootfs-jits-%: rootfs
	$(call run,tools/jits.d/image --make $*)

packages.bare := mmdebstrap
cost.bare := 40 300
bare: archive
	$(call run,tools/bare)

packages.bare-packages := mmdebstrap
entry.bare-packages := bare_packages
cost.bare-packages := 90 500
bare-packages: archive
	$(call run,tools/bare packages)

# Guests

machines := x86_64 aarch64 s390x riscv64
$(foreach m,$(machines),$(eval cost.qemu_$m := 10 110))
$(machines:%=qemu_%): qemu_%: archive
	$(call run,tools/qemu $*)

packages.guest := busybox-static cpio
memory.guest := 3
guest: qemu_x86_64
	$(nothing)

foreign := aarch64 s390x riscv64
$(foreach m,$(foreign),$(eval packages.guest-$m := busybox-static cpio) \
	$(eval memory.guest-$m := 3))
$(foreign:%=guest-%): guest-%: archive qemu_%
	$(call run,tools/busybox $(patsubst aarch64,arm64,$*))

# All that a command needs, and how long it then takes

cost.demo := 480 0
demo: guest rootfs sfjit python kernel-patched
	$(nothing)

cost.demo-aarch64 := 900 0
demo-aarch64: guest-aarch64 rootfs_arm64 sfjit-aarch64 python kernel-aarch64
	$(nothing)

cost.demo-s390x := 900 0
demo-s390x: guest-s390x rootfs_s390x sfjit-s390x python kernel-s390x
	$(nothing)

cost.jits-small := 900 0
cost.jits-large := 900 0
cost.jits-java := 300 0
jits-small: llvm-examples
jits-java: java-class
jits-small jits-large jits-java: jits-%: guest rootfs-jits-% jits-programs \
		sfjit python kernel-patched
	$(nothing)
