# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2086,SC2154
# A single backend, whose expressions are all compiled.  The shells that it starts
# to write the stamps do not count: hence its number.
postgres="setpriv --reuid=postgres --regid=postgres --clear-groups \
	env HOME=/tmp/pg /usr/lib/postgresql/17/bin"

# It runs in the files of the database.
make_database() {
	mkdir /tmp/pg
	cp "$dir/postgres.sql" /tmp/pg
	chown -R postgres /tmp/pg
	$postgres/initdb -D /tmp/pg/data -A trust --no-sync --locale=C &&
		cat >>/tmp/pg/data/postgresql.conf <<-END &&
		jit = on
		jit_above_cost = 0
		jit_inline_above_cost = -1
		jit_optimize_above_cost = -1
		max_parallel_workers_per_gather = 0
		END
		$postgres/postgres --single -j -D /tmp/pg/data postgres \
			<"$dir/postgres.sql"
}

postgres_stamp() {
	cat <<-END
	COPY (SELECT 1) TO PROGRAM 'read up idle </proc/uptime; printf "pid \$PPID\n$1 \${up}0000000\n" >>/tmp/pg/stamps'
	END
}

[ -e /tmp/pg ] || make_database >"$out/initdb.log" 2>&1 ||
	{ tail "$out/initdb.log" >&2; die "no database"; }
rm -f /tmp/pg/stamps
{
	echo "SELECT work(clock_timestamp())"
	postgres_stamp begin
	echo "SELECT work(clock_timestamp() + '$seconds s')"
	postgres_stamp end
} >/tmp/pg/queries
record postgres "$mode" $postgres/postgres --single -D /tmp/pg/data postgres \
	</tmp/pg/queries
cp /tmp/pg/stamps "$out/postgres.$mode.truth"
