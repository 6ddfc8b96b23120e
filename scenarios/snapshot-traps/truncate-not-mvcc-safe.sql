-- @title A long report finds a table empty that was never empty
-- Formal name: an exception to MVCC that the manual names (outside Adya's anomalies).
--
-- The nightly import replaces the price list: TRUNCATE, then INSERT of the new prices, in one transaction. A report
-- began before it at REPEATABLE READ and comes to the prices only now. Its snapshot should show the old ones. It finds
-- none at all: TRUNCATE throws the old rows away at once, and the new ones are too young for the snapshot.

-- @schema
CREATE TABLE customers (id int PRIMARY KEY);
CREATE TABLE prices (item int PRIMARY KEY, amount int NOT NULL);

-- @setup
INSERT INTO customers VALUES (1), (2);
INSERT INTO prices VALUES (1, 10), (2, 20), (3, 30);

-- @session report
\step customers
SELECT count(*) AS customers FROM customers \gset
\step prices
SELECT count(*) AS prices FROM prices \gset
\echo the report counts :prices prices

-- @session import
\step replace
TRUNCATE prices;
INSERT INTO prices VALUES (1, 11), (2, 22), (3, 33);

-- @order report customers, import replace, import commit, report prices, report commit

-- @check the report finds three prices
SELECT seen('report', 'prices', 'prices')::int = 3;

-- @measure prices
SELECT seen('report', 'prices', 'prices')::int;

-- @expect read-committed: prevented
-- @expect repeatable-read, serializable: happens

-- @fix delete
-- Deleted rows stay for those whose snapshot still sees them. It costs more, and vacuum has to clear up.
-- Catalogue: DELETE instead of TRUNCATE
-- @session import
\step replace
DELETE FROM prices;
INSERT INTO prices VALUES (1, 11), (2, 22), (3, 33);
-- @expect all: prevented

-- @fix touch-first
-- A query of the table takes its weakest lock, and TRUNCATE, which needs the strongest, waits for the whole report.
-- It helps who comes first: a report that meets the import half-way takes its snapshot, then waits for the lock, and
-- finds the table empty all the same (`isolab explore` shows it).
-- Catalogue: touch the table first (holds ACCESS SHARE)
-- @session report
\step customers
SELECT FROM prices LIMIT 1;
SELECT count(*) AS customers FROM customers \gset
\step prices
SELECT count(*) AS prices FROM prices \gset
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: waits, explored happens
