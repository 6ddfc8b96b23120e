-- @title The foreign key says that a customer does not exist, and there she is
-- Formal name: the foreign-key check uses the transaction's snapshot from REPEATABLE READ on.
--
-- A worker begins a REPEATABLE READ transaction, looks at the customers, and stores the orders that come from a queue.
-- Dora registers meanwhile and orders at once. Her customer row is committed and anyone can see it, but the worker's
-- INSERT of her order fails with a foreign-key error: the check looks for her in a snapshot from before she came.

-- @schema
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers);

-- @setup
INSERT INTO customers VALUES (1, 'Carl');

-- @session worker
\step look
SELECT count(*) AS customers FROM customers \gset
\step insert
INSERT INTO orders VALUES (1, 2);

-- @session shop
\step register
INSERT INTO customers VALUES (2, 'Dora');

-- @order worker look, shop commit, worker insert, worker commit

-- @check the order of a customer who exists gets through
SELECT NOT raised('23503');

-- @measure orders
SELECT count(*) FROM orders;

-- @expect read-committed: prevented, explored anomaly
-- @expect repeatable-read, serializable: happens 23503 at worker insert

-- @fix retry-23503
-- The client takes 23503 for what it is here, a stale snapshot, and runs the transaction again with a fresh one. With
-- a customer who really does not exist it gives up after its last attempt.
-- Catalogue: retry on 23503 as well (the order ends up stored)
-- @retry 10 also 23503
-- @check the order of a customer who exists gets through
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect read-committed: prevented, explored anomaly
-- @expect repeatable-read, serializable: stopped 23503 at worker insert then holds
