#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Lists of packages of tools/rootfs: one image for one set of names.  Programs
# of our own stand for those that ask the archive and make the image.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

mkdir "$tmp/bin"
cat >"$tmp/bin/sudo" <<'END'
#!/bin/sh
echo "$*" >>"$tmp/asked"
exec "$@"
END
cat >"$tmp/bin/apt-get" <<'END'
#!/bin/sh
case " $* " in
*" nosuch "*)
	echo "E: Unable to locate package nosuch" >&2
	exit 100 ;;
esac
END
cat >"$tmp/bin/mmdebstrap" <<'END'
#!/bin/sh
echo "$*" >>"$tmp/made"
[ ! -e "$tmp/lacks" ] || case " $* " in
*" $(cat "$tmp/lacks") "*) exit 1 ;;
esac
for root; do :; done
root=${*%" -"} root=${root##* }
mkdir -p "$root/etc" "$root/usr/bin" "$root/usr/share/base-passwd"
echo root:x:0:0 | tee "$root/usr/share/base-passwd/passwd.master" \
	>"$root/usr/share/base-passwd/group.master"
END
cat >"$tmp/bin/mke2fs" <<'END'
#!/bin/sh
image=${*% *} image=${image##* }
: >"$image"
cp -r "${image%/*}/root" "${image%/*}/was"
END
for program in chroot chown; do
	# shellcheck disable=SC2016 # for the program
	printf '#!/bin/sh\necho %s >>"$tmp/called"\n' $program \
		>"$tmp/bin/$program"
done
chmod +x "$tmp/bin"/*
export tmp PATH="$tmp/bin:$PATH" O="$tmp/build" XDG_CACHE_HOME="$tmp/cache" \
	MIRROR=none

# rootfs OPTION...: sets $said and $rc.
rootfs() {
	rc=0
	said=$(tools/rootfs "$@" 2>"$tmp/err") || rc=$?
}

# kept [NAME]: images for lists of packages, or those of NAME.
kept() {
	find "$tmp/cache/sfjit" -maxdepth 1 -name "${1:-rootfs_with}-*" \
		! -name '*.tmp' | wc -l
}

# old ENTRY...: was last used before another run could still be about to.
old() {
	touch -d '2 hours ago' "$@"
}

# password [OPTION]: how often sudo asks.
password() {
	cat >"$tmp/bin/id" <<-'END'
		#!/bin/sh
		echo 1000
	END
	chmod +x "$tmp/bin/id"
	: >"$tmp/asked"
	rootfs "$@" --password
	rm "$tmp/bin/id"
	wc -l <"$tmp/asked"
}
is 'password: asked for before the image is made' 1 "$(password)"
rootfs
plain=$said
is 'no list: made' 0 "$rc"
is 'no list: an image' yes "$([ -f "$plain" ] && echo yes)"
is 'password: not asked for after that' 0 "$(password)"
is 'own machine: configured' 1 "$(grep -c chroot "$tmp/called")"
rootfs --with= --with=,
is 'empty lists are none' "$plain" "$said"

rootfs --with=ruby,hello
first=$said
is 'list: made' 0 "$rc"
is 'list: an image of its own' yes \
	"$([ -f "$first" ] && [ "$first" != "$plain" ] && echo yes)"
is 'list: installed' yes "$(grep -q 'trixie-backports,hello,ruby ' \
	"$tmp/made" && echo yes)"
rootfs --with=hello --with=ruby
is 'two options are one list' "$first" "$said"
rootfs --with=,ruby,hello,,ruby --with=hello
is 'names twice and in another order' "$first" "$said"
is 'made once' 2 "$(wc -l <"$tmp/made")"
is 'says of what' 'hello ruby' "$(cat "${first%/*}/packages")"

rootfs --with=hello,nosuch
is 'unknown package: status' 1 "$rc"
is 'unknown package: named' 'rootfs: Unable to locate package nosuch' \
	"$(tail -n 1 "$tmp/err")"
is 'unknown package: nothing printed' '' "$said"
is 'unknown package: nothing made' 2 "$(wc -l <"$tmp/made")"
is 'unknown package: nothing kept' 1 "$(kept)"

for bad in Hello -x 'a b' 'ab;id' '../ab' 'a' perl- perl/sid-; do
	rootfs --with="$bad"
	is "'$bad' is no name: status" 1 "$rc"
	is "'$bad' is no name: message" \
		"rootfs: no name of a package: '$bad'" "$(cat "$tmp/err")"
done

is 'password: asked for before the image of another machine, too' 1 \
	"$(password --arch=arm64)"
rootfs --arch=arm64
is 'another machine: made' 0 "$rc"
is 'another machine: an image of its own' yes \
	"$([ -f "$said" ] && [ "$said" != "$plain" ] && echo yes)"
is 'another machine: unpacked only' yes "$(tail -n 1 "$tmp/made" | grep -q \
	'variant=extract --include=?essential .*=arm64 ' && echo yes)"
is 'another machine: nothing of it runs' 2 "$(grep -c chroot "$tmp/called")"
was=${said%/*}/was
is 'another machine: users' root:x:0:0 "$(cat "$was/etc/passwd")"
is 'another machine: groups' root:x:0:0 "$(cat "$was/etc/group")"
is 'another machine: awk' mawk "$(readlink "$was/usr/bin/awk")"
rootfs --arch=arm64 --with=hello,ruby
is 'another machine: a list makes another image' 0 "$rc"
is 'password: not asked for after that of another machine' 0 \
	"$(password --arch=arm64)"
is 'another machine: not that of this one' yes \
	"$([ "$said" != "$first" ] && echo yes)"
rm -r "${said%/*}"

# The archive lacks packages of the first.
echo trixie >"$tmp/lacks"
rootfs --arch=s390x
is 's390x: made' 0 "$rc"
is 's390x: of the next release' yes "$(tail -n 1 "$tmp/made" | grep -q \
	'python3.13,.*,linux-perf,* .*=s390x .* forky ' && echo yes)"
is 's390x: the python of the extension' python3.13 \
	"$(readlink "${said%/*}/was/usr/bin/python3")"
rm -r "${said%/*}" "$tmp/lacks"
rootfs --arch=s390x
is 's390x: of this one, if it can be' yes "$(tail -n 1 "$tmp/made" | grep -q \
	'trixie-backports,* .*=s390x .* trixie ' && echo yes)"
rm -r "${said%/*}"

building=$tmp/cache/sfjit/rootfs_with-other.tmp
mkdir "$building"
old "$building" "${first%/*}"
for more in a1 a2 a3 a4 a5; do
	rootfs --with=$more
done
is 'five lists are kept' 5 "$(kept)"
is 'the oldest is not' no "$([ -f "$first" ] || echo no)"
is 'nor does it take the plain image along' yes \
	"$([ -f "$plain" ] && echo yes)"
is 'nor one that is being made' yes "$([ -d "$building" ] && echo yes)"
rootfs --with=a6
is 'what was just used is kept' 6 "$(kept)"
old "$tmp/cache/sfjit"/rootfs_with-*
rootfs --with=a1
is 'what is asked for is used' 5 "$(kept)"
rootfs --with=a1
is 'and so is kept' 13 "$(wc -l <"$tmp/made")"

for key in 1 2 3 4 5; do
	mkdir "$tmp/cache/sfjit/rootfs-$key"
done
old "$tmp/cache/sfjit"/rootfs-*
exec 9>"$tmp/cache/sfjit/.rootfs.lock"
flock 9
rootfs
is 'while another one is being made none is dropped' 6 "$(kept rootfs)"
exec 9>&-
rootfs
is 'plain images of other versions are dropped' 5 "$(kept rootfs)"
is 'but not the one in use' yes "$([ -f "$plain" ] && echo yes)"
finish
