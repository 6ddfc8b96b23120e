-- @title A materialised view closes the day, and a sale is still booked on it
-- Formal name: G2 (REFRESH MATERIALIZED VIEW reads and writes).
--
-- A view sums up the sales of each day, and a day that it shows counts as closed. A till asks the view for the last
-- closed day, April 1, and books its sale on the day after. Meanwhile the nightly refresh takes April 2 into the view.
-- The sale of April 2 is in the table, the view shows April 2 without it, and nobody will add it. PostgreSQL 15 lets
-- this through even at SERIALIZABLE, where REFRESH took no part in the checks; PostgreSQL 18 stops it.

-- @schema
CREATE TABLE sales (day date NOT NULL, item text NOT NULL, amount int NOT NULL);
CREATE MATERIALIZED VIEW daily_sales AS SELECT day, item, sum(amount) AS amount FROM sales GROUP BY day, item;
CREATE UNIQUE INDEX ON daily_sales (day, item);

-- @setup
INSERT INTO sales (day, item, amount) VALUES ('2024-04-01', 'apples', 10);
REFRESH MATERIALIZED VIEW daily_sales;
INSERT INTO sales (day, item, amount) VALUES ('2024-04-02', 'apples', 20);

-- @session nightly
\step refresh
REFRESH MATERIALIZED VIEW CONCURRENTLY daily_sales;

-- @session till
\step look
SELECT max(day) AS closed FROM daily_sales \gset
\echo the last closed day is :closed
\step book
INSERT INTO sales (day, item, amount) VALUES (:closed + 1, 'oranges', 15);

-- @order till look, nightly refresh, till book, nightly commit, till commit

-- @check the view has all sales of the days that it shows
SELECT NOT EXISTS (SELECT FROM sales
                    WHERE day IN (SELECT day FROM daily_sales)
                      AND (day, item) NOT IN (SELECT day, item FROM daily_sales));

-- @measure missing in $
SELECT coalesce(sum(amount), 0) FROM sales
 WHERE day IN (SELECT day FROM daily_sales) AND (day, item) NOT IN (SELECT day, item FROM daily_sales);

-- @expect read-committed, repeatable-read: happens
-- @expect serializable on < 18: happens
-- @expect serializable on >= 18: stopped 40001 at till commit

-- @fix lock-table
-- Both lock the table of sales first, so that closing a day and booking on it come one after the other.
-- Catalogue: LOCK TABLE first (both sides)
-- @session nightly
\step lock
LOCK TABLE sales IN SHARE ROW EXCLUSIVE MODE;
\step refresh
REFRESH MATERIALIZED VIEW CONCURRENTLY daily_sales;
-- @session till
\step look
LOCK TABLE sales IN SHARE ROW EXCLUSIVE MODE;
SELECT max(day) AS closed FROM daily_sales \gset
\step book
INSERT INTO sales (day, item, amount) VALUES (:closed + 1, 'oranges', 15);
-- @order till look, nightly lock, nightly refresh, till book, nightly commit, till commit
-- @expect all: waits
