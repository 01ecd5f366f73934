# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
# shellcheck disable=SC2154 # set by tools/guest
#
# The terminal of tools/guest --shell.  File descriptor 3 is the stdin of
# tools/guest, as a command with & reads nothing.  Sourced after lib.sh.

# Its settings, while a guest has it.
saved=''

# choose_input: $input is what COMMAND reads.
choose_input() {
	input=none
	[ -n "$shell" ] || return 0
	input=stdin
	[ -t 3 ] || return 0
	input=terminal
	terminal=$(tty <&3)
	saved=$(stty -g <&3)
	mkfifo "$run/size"
}

# What the guest's side is set to before COMMAND starts.
terminal_settings() {
	echo "export TERM=$(quote "${TERM:-dumb}")"
	echo 'infocmp >/dev/null 2>&1 || TERM=xterm'
	stty size <&3 | {
		read -r _rows _columns
		echo "stty rows $_rows columns $_columns"
	}
}

# QEMU makes the terminal raw, with signal=off also for Ctrl-C.  29 is Ctrl-].
terminal_device() {
	echo "-echr 29 -chardev stdio,id=terminal,mux=on,signal=off"
	echo "-device virtconsole,chardev=terminal"
	port size "pipe,path=$run/size"
}

announce_terminal() {
	say "guest: \`exit' powers it off; Ctrl-] x ends it if it hangs"
	trap 'stty size <&3 1<>"$run/size"' WINCH
}

# QEMU does it itself unless it is killed.
give_terminal_back() {
	[ -z "$saved" ] || stty "$saved" <&3
	saved=
}
