-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
SET jit_above_cost = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TEMPORARY TABLE t AS SELECT i, (i * 7919) % 1009 AS k, md5(i::text) AS m FROM generate_series(1, 4000) i;
SELECT sum(i * k % 7), count(DISTINCT m) FROM t WHERE k % 3 = 1 AND i > 100;
SELECT k % 10 AS g, max(m), avg(i)::bigint FROM t GROUP BY g ORDER BY g;
