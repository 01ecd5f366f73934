#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What make_kernel of tools/kernel-build.sh keeps of an earlier build.  A make
# of our own stands for the kernel's: it compiles one object and then does what
# $next says.

set -eu
# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
mkdir "$tmp/bin" "$tmp/base"
echo base >"$tmp/base/id"
cat >"$tmp/bin/make" <<'END'
#!/bin/sh
echo "$next" >>"$build/object"
case $next in
fails) exit 2 ;;
killed) kill -KILL $PPID ;;
esac
END
chmod +x "$tmp/bin/make"

# build NEXT ID: in a shell of its own, as a kill ends it.
build() {
	next=$1 want=$2 PATH=$tmp/bin:$PATH sh -euc '
		top=$PWD cache=$1 base=$1/base jobs=1
		. tools/kernel-build.sh
		source_tree() { tree=none; }
		kernel_id() { echo "$want"; }
		configure() { export build next; }
		make_kernel patched' sh "$tmp" 2>/dev/null || :
}

# made NAME LINE...: what was compiled into the object since it was new.
made() {
	name=$1
	shift
	got=$(tr '\n' ' ' <"$tmp/build-patched-base/object")
	is "$name" "$* " "$got"
}

build works 1
made 'an empty directory' works
build works 1
made 'the same kernel: nothing to do' works
build works 2
made 'another kernel: on top of it' works works
build fails 3
made 'a build that fails' works works fails
build works 3
made 'behind a failed one: on top of it' works works fails works
build killed 4
made 'a build that is killed' works works fails works killed
build works 4
made 'behind a killed one: from nothing' works
finish
