# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: server
# packages: mariadb-server
mkdir data
chown mysql data .
chmod 755 .
mariadb-install-db --user=mysql --datadir="$PWD/data" --skip-test-db >&2
{
	echo 'CREATE DATABASE IF NOT EXISTS d; USE d;'
	echo 'CREATE TABLE t AS SELECT seq AS i, seq * 7919 % 1009 AS k, MD5(seq) AS m FROM seq_1_to_1500;'
	echo 'SELECT SUM(i * k % 7), COUNT(DISTINCT m) FROM t WHERE k % 3 = 1;'
	echo 'SELECT k % 10 AS g, MAX(m), COUNT(*) FROM t GROUP BY g ORDER BY g;'
	echo 'SELECT COUNT(*) FROM t a JOIN t b ON a.k = b.i WHERE b.m LIKE "a%";'
} >queries
export work=$PWD
run sh -c 'mariadbd --no-defaults --user=mysql --datadir=$work/data --socket=$work/s --skip-networking --pid-file=$work/pid 2>log &
until mariadb -S $work/s -e "SELECT 1" >one 2>&1; do sleep 0.2; done
mariadb -S $work/s <queries; mariadb-admin -S $work/s shutdown; wait'
