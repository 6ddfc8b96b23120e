-- @title The report of a closed day changes although every writer is SERIALIZABLE
-- Formal name: G2 read-only anomaly: SSI ignores the reader.
--
-- A till notes each sale under the current day; closing the day moves on to the next one. Both run at SERIALIZABLE. A
-- sale has read "day 1" when the day is closed, the report of day 1 is printed, and then the sale is stored under day
-- 1. The report runs at REPEATABLE READ, because it only reads. That is why nobody notices: the level looks at
-- SERIALIZABLE transactions alone, and without the report the two writers are in order.

-- @schema
CREATE TABLE till (id int PRIMARY KEY, day int NOT NULL);
CREATE TABLE sales (day int NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO till VALUES (1, 1);
INSERT INTO sales VALUES (1, 100);

-- @session sale
\step read
SELECT day FROM till WHERE id = 1 \gset
\step insert
INSERT INTO sales VALUES (:day, 50);

-- @session close
\step update
UPDATE till SET day = day + 1 WHERE id = 1;

-- @session report at repeatable-read
BEGIN READ ONLY;
\step day
SELECT day - 1 AS closed FROM till WHERE id = 1 \gset
\step sum
SELECT coalesce(sum(amount), 0) AS total FROM sales WHERE day = :closed \gset
\echo the report of day :closed says $:total
COMMIT;

-- @order sale read, close commit, report commit, sale insert, sale commit

-- @check what was reported for a closed day stays true
SELECT seen('report', 'sum', 'total')::int = coalesce(sum(amount), 0)
  FROM sales WHERE day = seen('report', 'day', 'closed')::int;

-- @measure reported in $
SELECT seen('report', 'sum', 'total')::int;

-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM sales WHERE day = seen('report', 'day', 'closed')::int;

-- @expect all: happens

-- @fix same-level
-- The report joins the others at the level under test. At SERIALIZABLE the sale is then refused and tried again, and
-- is stored under day 2; below it, the report sees what it saw before.
-- Catalogue: report at the same level
-- @retry 10
-- @session report
BEGIN READ ONLY;
\step day
SELECT day - 1 AS closed FROM till WHERE id = 1 \gset
\step sum
SELECT coalesce(sum(amount), 0) AS total FROM sales WHERE day = :closed \gset
COMMIT;
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at sale insert then holds

-- @fix for-share
-- The sale locks the day that it has read, so the day cannot be closed before the sale is stored. It holds whoever
-- reads.
-- Catalogue: FOR SHARE on the control row
-- @session sale
\step read
SELECT day FROM till WHERE id = 1 FOR SHARE \gset
\step insert
INSERT INTO sales VALUES (:day, 50);
-- @expect all: waits
