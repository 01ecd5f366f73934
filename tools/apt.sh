# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Packages: install on the host what is missing, and fetch single packages of
# other suites without touching the host.  Sourced after lib.sh.

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need PACKAGE...: installs the missing ones; no network if there are none.
need() {
	_missing=
	for _p; do
		installed "$_p" || _missing="$_missing $_p"
	done
	[ -n "$_missing" ] || return 0
	say "installing:$_missing"
	# A sudo that asks for a password must ask before output is in a log.
	as_root true
	step install "installing packages" install_packages "$_missing"
}

# again COMMAND...: up to three times. An archive may be away for a moment.
again() {
	for _pause in 20 60 ''; do
		! "$@" || return 0
		[ -z "$_pause" ] || sleep "$_pause"
	done
	return 1
}

# Third-party sources of the host may be broken: only the install must work.
# Another apt may be at work, as after booting.
install_once() {
	as_root apt-get -o Acquire::Check-Valid-Until=false \
		-o DPkg::Lock::Timeout=600 update || :
	# shellcheck disable=SC2086
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
		-o DPkg::Lock::Timeout=600 --no-install-recommends $1
}

install_packages() {
	again install_once "$1"
}

# The Debian mirror the host itself uses.  Without package lists (a container
# image) apt does not know the labels yet: then by the name of the suite.
mirror() {
	if [ -n "${MIRROR:-}" ]; then
		echo "$MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's placeholders
	apt-get indextargets --format '$(LABEL)|$(RELEASE)|$(SITE)' \
		'Created-By: Packages' | grep -v -e '|cdrom:' -e security |
		sort -t '|' -k1,1r -s | grep -m 1 -e '^Debian|' -e '^|' |
		cut -d '|' -f 3
}

# private_apt [--arch=ARCHITECTURE] SUITE...: lets the apt commands of this
# process work on lists of their own with these suites, as if no package was
# installed.
private_apt() {
	_of=
	case $1 in
	--arch=*)
		_of="APT::Architecture \"${1#*=}\"; APT::Architectures { \"${1#*=}\"; };"
		shift ;;
	esac
	_site=$(mirror)
	[ -n "$_site" ] || die "no Debian mirror in apt's sources; set MIRROR="
	apt_root=$cache/apt-$(echo "$_site $*$_of" | hash16)
	mkdir -p "$apt_root/lists/partial" "$apt_root/archives/partial"
	: >"$apt_root/status"
	_signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
	for _suite; do
		echo "deb [$_signed] $_site $_suite main"
		echo "deb-src [$_signed] $_site $_suite main"
	done >"$apt_root/sources.list"
	cat >"$apt_root/apt.conf" <<-END
		Dir::Etc::sourcelist "$apt_root/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$apt_root";
		Dir::State::lists "$apt_root/lists";
		Dir::State::status "$apt_root/status";
		Dir::Cache "$apt_root";
		$_of
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		Acquire::Check-Valid-Until "false";
		Acquire::Retries "3";
	END
	export APT_CONFIG="$apt_root/apt.conf"
	exec 8>"$apt_root/lock"
	flock 8
	refresh_lists || return
	exec 8>&-
}

# The lists of today are new enough; a failed update leaves no stamp.
refresh_lists() {
	[ -z "$(find "$apt_root/updated" -mmin -720 2>/dev/null)" ] || return 0
	rm -f "$apt_root/updated"
	again apt-get -o APT::Update::Error-Mode=any update || return
	touch "$apt_root/updated"
}

# unpack_once DIR PACKAGE...: the files of these packages only.
unpack_once() {
	_dir=$1
	shift
	mkdir -p "$_dir/.debs"
	(cd "$_dir/.debs" && apt-get download "$@") || return
	for _deb in "$_dir"/.debs/*.deb; do
		dpkg-deb -x "$_deb" "$_dir" || return
	done
	rm -r "$_dir/.debs"
}

unpack() {
	again unpack_once "$@"
}

# suites ARCH: where Debian 13's packages for it are looked for. Of some machines
# the archive lacks a few at times: then those of the next release.
suites() {
	echo trixie
	case $1 in
	riscv64 | s390x) echo forky ;;
	esac
}

# unpack_for ARCH DIR PACKAGE...: of the first suite that has all of them.
unpack_for() {
	again unpack_any "$@"
}

unpack_any() {
	_arch=$1 _to=$2
	shift 2
	for _suite in $(suites "$_arch"); do
		rm -rf "$_to"
		! (private_apt "--arch=$_arch" "$_suite" &&
			unpack_once "$_to" "$@") || return 0
	done
	return 1
}

# unpack_closure DIR PACKAGE...: the same with everything they depend on.
unpack_closure() {
	_dir=$1
	shift
	# shellcheck disable=SC2046
	unpack "$_dir" $(apt-get install -s "$@" |
		sed -n 's/^Inst \([^ ]*\).*/\1/p')
}

# private_command DIR NAME BINARY: DIR/NAME runs the unpacked BINARY with the
# loader and libraries beside it; it finds them by its own place, as DIR may be
# renamed.
private_command() {
	cat >"$1/$2" <<-END
		#!/bin/sh
		root=\${0%/*}
		lib=\$root/usr/lib/x86_64-linux-gnu
		exec "\$lib/ld-linux-x86-64.so.2" --library-path "\$lib" \\
			"\$root/$3" "\$@"
	END
	chmod +x "$1/$2"
}
