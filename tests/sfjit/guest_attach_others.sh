#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit attach to processes of other users, with other files, in
# containers, and with more privileges; as root and as others. Stacks are exact
# in each attached process.

# A process in a chroot, as under tools/guest-init, cannot make a user
# namespace, and perf cannot return from those of others. So run as after
# switch_root(8), in a mount namespace.
if [ -d /proc/1/root/newroot ] && [ -z "${SWITCHED:-}" ]; then
	export SWITCHED=yes
	# shellcheck disable=SC2016 # for the other shell
	exec chroot /proc/1/root /bin/unshare -m /bin/sh -c \
		'cd /newroot && mount -o move . / && exec chroot . "$@"' \
		sh "$(realpath "$0")" "$@"
fi

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/summary.sh
. "$top/tests/preload/summary.sh"
# shellcheck source=tests/sfjit/attached.sh
. "$top/tests/sfjit/attached.sh"
data=$tmp/perf.data
user=1000 other=1001
long=1000000000
no_right="belongs to another user: only root may attach to it"

# Programs that other users run, and files that they write.
chmod 755 "$tmp"
mkdir -m 755 "$tmp/bin" "$tmp/lib"
cp "$sfjit" "$run/prefork" tests/sfjit/programs/container.sh \
	/proc/1/root/bin/busybox "$tmp/bin/"
cp -r "$O/lib/sfjit" "$tmp/lib/"
chmod -R go+rX "$tmp/bin" "$tmp/lib"
mkdir -m 700 "$tmp/home" "$tmp/other"
chown $user "$tmp/home"
chown $other "$tmp/other"

# as USER COMMAND...: execs it, so that $! is the command's process id.
cat >"$tmp/bin/as" <<END
#!/bin/sh
user=\$1 cache=$tmp/other
shift
[ "\$user" != $user ] || cache=$tmp/home
XDG_CACHE_HOME=\$cache exec setpriv --reuid="\$user" --regid="\$user" \\
	--clear-groups --inh-caps=-all "\$@"
END
chmod 755 "$tmp/bin/as"
PATH=$tmp/bin:$PATH

# A root directory with a program that exists nowhere else under that name, and
# without any file of sfjit.
mkdir -p "$tmp/root/lib64"
cp "$run/prefork" "$tmp/root/prog"
cp "$run/prefork" "$tmp/root/jailed"
ldd "$run/prefork" | grep -o '/[^ ]*' | while read -r file; do
	cp -L "$file" "$tmp/root/lib64/"
done
ln -s lib64 "$tmp/root/lib"
chmod -R go+rX "$tmp/root"
echo "another program" >/prog

# begin NUMBER NAME COMMAND...: waits until so many processes have that name,
# and sets $pid to the oldest; prefork takes that long to work.
begin() {
	_number=$1 _name=$2 pid=
	shift 2
	# A busy program must not starve the one that watches it.
	nice -n 19 "$@" &
	_command=$!
	while [ "$(pgrep -c -x "$_name")" -lt "$_number" ]; do
		if ! kill -0 $_command; then
			not_ok "$_name" "has ended"
			finish
		fi
		sleep 0.2
	done
	pid=$(pgrep -o -x "$_name")
}

# begin_prefork NAME COMMAND...: starts it without its workers
begin_prefork() {
	begin 4 "$@"
	for _pid in $(pgrep -x "$1"); do
		[ "$_pid" = "$pid" ] || kill -9 "$_pid"
	done
}

# sample SECONDS COMM: prints how many stacks $pid has, and how many of them are
# complete, and exact
sample() {
	perf record -e cpu-clock -F 200 --call-graph=fp -o "$data" -p "$pid" \
		-- sleep "$1" >"$tmp/err" 2>&1 &&
		perf script --no-inline -i "$data" -F comm,pid,ip,sym \
			>"$samples" 2>>"$tmp/err"
	summary "$2" sort_once "work main" >"$tmp/sum" 2>"$tmp/bad"
	read -r _ _ stacks _ complete _ exact <"$tmp/sum" ||
		stacks=0 complete=0 exact=0
}

# record COMM: prints "all exact" for $pid, or the counts
record() {
	# Other programs may use all CPU time.
	for _seconds in 2 10 30 100 300; do
		sample $_seconds "$1"
		[ "$stacks" -le 20 ] || break
	done
	if [ "$stacks" -gt 20 ] && [ "$complete" = "$stacks" ] &&
		[ "$exact" = "$stacks" ]; then
		echo "all exact"
	else
		echo "$complete complete and $exact exact of $stacks"
		head -n 20 "$tmp/bad" "$tmp/err" >&2
	fi
}

# not_exact NAME COMM: the stacks of $pid are not exact
not_exact() {
	like "$1: stacks before" "0 complete and 0 exact of [1-9]*" \
		"$(record "$2" 2>/dev/null)"
	[ -s "$tmp/sum" ] || cat "$tmp/err" >&2
}

# exact_with NAME COMM COMMAND...: stacks of $pid after the command has attached
# to $target, and what is left after it has detached
exact_with() {
	name=$1 comm=$2
	shift 2
	snapshot "$pid" >"$tmp/before"
	works "$name: attached" "$@" attach "$target"
	is "$name: windows of program, libc, ld.so, vDSO" 4 "$(windows "$pid")"
	is "$name: stacks" "all exact" "$(record "$comm")"
	works "$name: detached" "$@" detach "$target"
	is "$name: no windows" 0 "$(windows "$pid")"
	snapshot "$pid" >"$tmp/after"
	same "$name: mappings and files" "$tmp/before" "$tmp/after"
}

# refuses NAME MESSAGE COMMAND...: refuses to attach to $pid, with one line
refuses() {
	name=$1 want=$2
	shift 2
	said=$("$@" attach "$pid" 2>&1)
	is "$name" "1 sfjit: $pid: $want" "$? $said"
	is "$name: no windows" 0 "$(windows "$pid")"
}

# tables_of DIRECTORY: prints "some" or "none" for a user's cache
tables_of() {
	if find "$1" -name '*.packed' | grep -q .; then
		echo some
	else
		echo none
	fi
}

# ---- Another user -------------------------------------------------------------

begin_prefork prefork as $user "$tmp/bin/prefork" $long
target=$pid
not_exact "another user's process" prefork
exact_with "another user's process, by root" prefork "$sfjit"
is "another user's process, by root: its tables are not kept" none \
	"$(tables_of "$XDG_CACHE_HOME")"
exact_with "one's own process" prefork as $user "$tmp/bin/sfjit"
is "one's own process: its tables are kept" some "$(tables_of "$tmp/home")"
refuses "another user's process, by a user" "$no_right" \
	as $other "$tmp/bin/sfjit"
kill "$pid"

# ---- Other files ----------------------------------------------------------------

begin_prefork jailed chroot --userspec=$user:$user "$tmp/root" /jailed $long
target=$pid
is "chroot: it has no sfjit" "prog lib64 lib jailed" \
	"$(cd "/proc/$pid/root" && find . -maxdepth 1 -mindepth 1 -printf '%f\n' |
		sort -r | xargs)"
not_exact "chroot" jailed
exact_with "chroot, by root" jailed "$sfjit"
exact_with "chroot, by its user" jailed as $user "$tmp/bin/sfjit"
kill "$pid"

# ---- Containers -----------------------------------------------------------------

rm -rf "$tmp/home/sfjit"
begin_prefork prog "$tmp/bin/container.sh" $user "$tmp/root" /prog $long
target=$pid
for ns in mnt pid user; do
	[ "$(readlink "/proc/$pid/ns/$ns")" = "$(readlink "/proc/$$/ns/$ns")" ] ||
		echo $ns
done >"$tmp/spaces"
is "container: its namespaces" "mnt pid user" "$(xargs <"$tmp/spaces")"
not_exact "container" prog
exact_with "container, by root" prog "$sfjit"
exact_with "container, by its user" prog as $user "$tmp/bin/sfjit"
is "container, by its user: its tables are not kept" none \
	"$(tables_of "$tmp/home")"
refuses "container, by another user" "$no_right" as $other "$tmp/bin/sfjit"

# enter COMMAND...: runs it as the container's root
# shellcheck disable=SC2317 # exact_with calls it
enter() {
	_command=/old$1
	shift
	LD_LIBRARY_PATH=/old/lib/x86_64-linux-gnu \
		nsenter --user --mount --pid --target "$pid" "$_command" "$@"
}
target=$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status")
is "within the container: its number" 1 "$target"
exact_with "within the container" prog enter "$tmp/bin/sfjit"
kill -9 "$pid"

# ---- More rights ----------------------------------------------------------------

cp /bin/sleep "$tmp/bin/gains"
chmod 4755 "$tmp/bin/gains"
begin 1 gains as $user "$tmp/bin/gains" 1000000
is "set-user-ID: it is root" 0 \
	"$(awk '/^Uid:/ { print $3 }' "/proc/$pid/status")"
refuses "set-user-ID" "has more privileges than you: only root may attach to it" \
	as $user "$tmp/bin/sfjit"
works "set-user-ID, by root: attached" "$sfjit" attach "$pid"
works "set-user-ID, by root: detached" "$sfjit" detach "$pid"
kill "$pid"

# PR_SFRAME_REGISTER would kill the process, unless the filter is suspended.
cp "$run/filter" "$tmp/bin/"
start "$tmp/filtered" as $user "$tmp/bin/filter" 1397115441 0 \
	sh -c 'echo ready; read -r line'
snapshot "$pid" >"$tmp/before"
refuses "a seccomp filter" "has a seccomp filter: attaching needs \
CAP_SYS_ADMIN, and a kernel with CONFIG_CHECKPOINT_RESTORE" \
	as $user "$tmp/bin/sfjit"
snapshot "$pid" >"$tmp/after"
same "a seccomp filter: mappings and files" "$tmp/before" "$tmp/after"
works "a seccomp filter, by root: attached" "$sfjit" attach "$pid"
works "a seccomp filter, by root: detached" "$sfjit" detach "$pid"
kill "$pid"

# PR_SET_DUMPABLE
start "$tmp/secret" as $user python3 -c 'import ctypes, sys
print(ctypes.CDLL(None).prctl(4, 0), flush=True)
sys.stdin.read()'
is "not dumpable: it is" 0 "$(cat "$tmp/secret")"
refuses "not dumpable" \
	"is not dumpable, see prctl(2): only root may attach to it" \
	as $user "$tmp/bin/sfjit"
works "not dumpable, by root: attached" "$sfjit" attach "$pid"
works "not dumpable, by root: detached" "$sfjit" detach "$pid"
kill "$pid"
finish
