-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: 2026 The sfjit authors
-- Expressions, aggregates, joins and sorts that are compiled, and an error.
CREATE TABLE item AS
	SELECT n AS id, n % 97 AS kind, (n * 7919 % 1009)::float8 AS price,
		'item ' || n % 13 AS name
	FROM generate_series(1, 30000) AS n;
CREATE TABLE kind AS
	SELECT n AS id, n % 7 AS class FROM generate_series(0, 96) AS n;
CREATE FUNCTION share(p float8, c int) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	IF p < 0 THEN RAISE EXCEPTION 'out'; END IF;
	RETURN p / (c + 1);
END $$;
CREATE FUNCTION work(upto timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	rounds int := 0;
BEGIN
	LOOP
		PERFORM class, sum(price * 1.19 + 3), avg(price), max(item.id)
			FROM item JOIN kind ON item.kind = kind.id
			WHERE price > 17 AND name <> 'item 5' AND item.id % 3 <> 1
			GROUP BY class HAVING count(*) > 2 ORDER BY 2;
		PERFORM share(price, kind) FROM item WHERE item.id < 500;
		BEGIN
			PERFORM share(price - 500, kind) FROM item
				WHERE item.id % 11 = 3;
		EXCEPTION WHEN OTHERS THEN
			rounds := rounds + 1;
		END;
		EXIT WHEN clock_timestamp() >= upto;
	END LOOP;
	RETURN rounds;
END $$;
