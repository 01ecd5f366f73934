#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit record and sfjit inject use the file that was mapped, also
# in a mount namespace, below another root, in an overlay, and after it was
# deleted or replaced, and copies of files of another machine; and never another one
# that has its path.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
sfjit=$O/bin/sfjit
edges=$O/tests/stacks/programs/stacks-edges
other=$O/tests/sfjit/programs/record-fork
cd "$tmp" || exit 1
export HOME="$tmp"

[ "$(id -u)" = 0 ] || skip_all "not root"
perf record -q -e cpu-clock --call-graph=dwarf -o probe true >said 2>&1 ||
	skip_all "perf cannot record here"
unshare -m true 2>said || skip_all "no mount namespaces: $(cat said)"

record() { "$sfjit" record --quiet -e cpu-clock -F 499 -o data "$@" >said 2>&1; }

# ends RECORDING: what nearly all of its samples are; some are of what ran before
# the program
ends() {
	"$sfjit" explain --json "$1" 2>errors | python3 -c '
import json, sys
it = json.load(sys.stdin)
missing = sum(e["samples"] for e in it["ends"] if "not there" in e["why"])
if it["samples"] < 200:
    print("few samples:", it["samples"])
elif it["complete"] >= 0.97 * it["samples"]:
    print("complete")
elif missing >= 0.97 * it["samples"]:
    print("no file")
else:
    print(it)'
}

# complete NAME ARGUMENT...: a recording of the program
complete() {
	_name=$1
	shift
	works "$_name" record "$@"
	is "$_name: stacks" complete "$(ends data)"
}

mkdir mnt
complete "a mount namespace" -- unshare -m sh -c \
	"mount -t tmpfs none mnt && cp $edges mnt/prog && exec mnt/prog"

# Another program has its path, where sfjit and perf look.
cp "$other" mnt/prog
complete "a mount namespace over a file of that name" -- unshare -m sh -c \
	"mount -t tmpfs none mnt && cp $edges mnt/prog && exec mnt/prog"
is "a mount namespace over a file of that name: names" \
	"first main second work" "$(perf script -F ip,sym,dso -i data 2>errors |
	sed -n 's|^[[:space:]]*[0-9a-f]* \(.*\) (.*/mnt/prog)$|\1|p' | sort -u |
	sed /_start/d | xargs)"
rm mnt/prog

mkdir root
ldd "$edges" | grep -o '/[^ ]*' >libraries
while read -r library; do
	mkdir -p "root/$(dirname "$library")"
	cp "$library" "root/$library"
done <libraries
cp "$edges" root/prog
complete "another root" -- chroot root /prog
# A link of the process leads below its root, not ours.
mkdir root/bin
mv root/prog root/bin/edges
ln -s /bin/edges root/prog
complete "a link below another root" -- chroot root /prog
# Its parent is alive, and it is not, when its samples are read.
cp /bin/busybox root/sh 2>said || cp "$(command -v dash)" root/sh
complete "a child below another root" -- chroot root /sh -c '/bin/edges; :'

mkdir base
mount -t tmpfs none base && mkdir base/low base/up base/work base/all
if mount -t overlay -o lowerdir=base/low,upperdir=base/up,workdir=base/work \
	none base/all 2>said; then
	cp "$edges" base/low/prog
	complete "an overlay, from below" -- "$tmp/base/all/prog"
	cp "$other" base/low/prog2
	cp "$edges" base/all/prog2
	complete "an overlay, from above" -- "$tmp/base/all/prog2"
	complete "an overlay, as a root" -- unshare -m sh -c "
		cp -r root/. base/all && exec chroot base/all /bin/edges"
	umount base/all
else
	skip "an overlay" "$(cat said)"
fi
umount base

while_it_runs() {
	# shellcheck disable=SC2016 # of that shell
	complete "$1" -- sh -c 'cp "$1" run && { ./run & } && sleep 0.2
		eval "$2"; wait' sh "$edges" "$2"
}
while_it_runs "deleted" 'rm run'
while_it_runs "replaced" 'cp "'"$other"'" new && mv new run'

# A process that runs in one already.
unshare -m sh -c "mount -t tmpfs none mnt && cp $edges mnt/prog &&
	exec mnt/prog" 2>edges &
until [ "$(readlink "/proc/$!/exe")" = "$tmp/mnt/prog" ]; do sleep 0.01; done
complete "a process that runs in a mount namespace" -p $!
wait

# perf notes at the end which build-id a path has: that of another program, if
# it was replaced before.
cp "$edges" prog
perf record -q -e cpu-clock -F 499 --call-graph=dwarf -o raw sh -c "
	./prog & sleep 0.2; cp $other new && mv new prog; wait" >said 2>&1
works "replaced before perf looks: inject" "$sfjit" inject -q -i raw -o data
is "replaced before perf looks: no rules of another program" "no file" \
	"$(ends data)"
# It was replaced after that: perf has a copy.
cp "$edges" prog
perf record -q -e cpu-clock -F 499 --call-graph=dwarf -o raw ./prog \
	>said 2>&1
cp "$other" new && mv new prog
works "replaced after perf has looked: inject" \
	"$sfjit" inject -q -i raw -o data
is "replaced after perf has looked: perf's copy" complete "$(ends data)"

# Copies of the files of another machine: those of a recording without build-ids,
# with other inodes.
# share ARGUMENT...: of complete stacks, in whole percent, by sfjit inject
share() {
	"$sfjit" inject "$@" -i raw -o data 2>&1 |
		sed -n 's/.*complete (\([0-9]*\).*/\1/p'
}

cp "$edges" far
perf record -q --no-buildid -e cpu-clock -F 499 --call-graph=dwarf -o raw ./far \
	>said 2>&1
# shellcheck disable=SC2046 # words
for file in $(readlink -f far $(ldd far | grep -o '/[^ ]*')); do
	mkdir -p "copies$(dirname "$file")"
	cp "$file" "copies$file"
done
rm far
is "the program is gone" 0 "$(share)"
works "--symfs" test "$(share --symfs=copies)" -ge 97
mv "copies$tmp/far" copies/elsewhere
ln -s /elsewhere "copies$tmp/far"
works "--symfs: a link starts there" test "$(share --symfs=copies)" -ge 97
mv copies/elsewhere elsewhere
is "--symfs: a link leads to nothing outside" 0 "$(share --symfs=copies)"
"$sfjit" inject -q --symfs=none -i raw -o data >said 2>&1
is "--symfs: no directory" "sfjit: none: No such file or directory" "$(cat said)"

# With build-ids another program is not taken.
cp "$edges" far
perf record -q -e cpu-clock -F 499 --call-graph=dwarf -o raw ./far >said 2>&1
rm far "copies$tmp/far"
cp "$other" "copies$tmp/far"
export HOME=/nowhere
is "--symfs: another program" 0 "$(share --symfs=copies)"
mv elsewhere "copies$tmp/far"
works "--symfs: by build-ids" test "$(share --symfs=copies)" -ge 97
finish
