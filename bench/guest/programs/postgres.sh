# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: server
# packages: postgresql-17
bin=/usr/lib/postgresql/17/bin
pg="setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp"
chmod 755 "$PWD"
chown postgres "$PWD"
$pg $bin/initdb -D "$PWD/data" -A trust --no-sync --locale=C >&2
grep -v '^--' "$here/postgres.sql" >queries
run sh -c "$pg $bin/postgres --single -j -D $PWD/data postgres <queries | sed 's/ms$//'"
