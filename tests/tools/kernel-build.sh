#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What make_kernel of tools/kernel-build.sh keeps of an earlier build.  A make
# of our own stands for the kernel's: it compiles one object and then does what
# $next says.  What assert_config of tools/kernel-config.sh finds lost, and that
# the fragments of tools/config go together.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
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
made 'after a failed one: on top of it' works works fails works
build killed 4
made 'a build that is killed' works works fails works killed
build works 4
made 'after a killed one: from nothing' works

# lost FRAGMENT CONFIG: what assert_config says, and its status
lost() {
	printf %b "$1" >"$tmp/fragment"
	printf %b "$2" >"$tmp/config"
	sh -uc '. tools/kernel-config.sh
		say() { printf "%s " "$@"; }
		assert_config "$1/fragment" "$1/config"' sh "$tmp" || echo $?
}
wanted='# What is wanted.\nCONFIG_A=y\nCONFIG_B="b"\n# CONFIG_C is not set\n'
is 'a configuration with all that is wanted' '' \
	"$(lost "$wanted" 'CONFIG_B="b"\nCONFIG_A=y\n# CONFIG_C is not set\n')"
is 'a configuration where what is not wanted cannot be set' '' \
	"$(lost "$wanted" 'CONFIG_A=y\nCONFIG_B="b"\nCONFIG_CC=y\n')"
is 'a configuration that lost something' 'configuration lost: CONFIG_A=y 1' \
	"$(lost "$wanted" 'CONFIG_A=m\nCONFIG_AA=y\nCONFIG_B="b"\n')"
is 'a configuration with what is not wanted' 'configuration lost: CONFIG_C=n 1' \
	"$(lost "$wanted" 'CONFIG_A=y\nCONFIG_B="b"\nCONFIG_C=m\n')"

# Fragments that contradict each other are a configuration that lost something.
for variant in unpatched patched debug kcsan gdb bpf aarch64 s390x \
	aarch64_debug s390x_debug; do
	is "$variant: each option is set once" '' "$(sh -uc 'top=. cache=.
		. tools/kernel-build.sh
		cat $(fragments "$1")' sh $variant |
		sed -n 's/^\(# \)\{0,1\}\(CONFIG_[A-Z0-9_]*\)[= ].*/\2/p' |
		sort | uniq -d)"
done
finish
