# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

exec sqlite3 work.db <<'END'
PRAGMA cache_size = 200;
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
	INSERT INTO t SELECT i, printf('%08x frame', i * 7919 % 10007), i / 3.0 FROM n;
CREATE INDEX tb ON t (b);
SELECT count(*), avg(c), group_concat(substr(b, 1, 2)) FROM t GROUP BY a % 97 ORDER BY 2 DESC LIMIT 3;
SELECT count(*) FROM t x JOIN t y ON x.b = y.b WHERE y.b GLOB '*[a-c]?frame' OR x.b LIKE '%f f%';
SELECT json_extract(json_group_array(json_object('k', b)), '$[77].k') FROM t;
UPDATE t SET b = replace(upper(b), 'FRAME', hex(a)) WHERE a % 3;
CREATE VIRTUAL TABLE f USING fts5(b);
INSERT INTO f SELECT b || ' stack of frames' FROM t WHERE a < 5000;
SELECT count(*) FROM f WHERE f MATCH 'stack NOT 7*';
SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY a % 13 ORDER BY c) r FROM t);
DELETE FROM t WHERE a % 2;
VACUUM;
PRAGMA integrity_check;
END
