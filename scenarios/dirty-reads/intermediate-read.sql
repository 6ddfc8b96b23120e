-- @title Intermediate read: a customer sees an order half way through a job
-- Formal name: P1 dirty read, G1b intermediate read.
--
-- A job takes an order from new over packing to shipped, in one transaction. Packing is a step of the work that nobody
-- else should ever see, and a customer who reloads the page could be shown it. PostgreSQL keeps all of a transaction's
-- rows to itself until COMMIT: the customer sees new, then shipped (READ COMMITTED) or still new (from REPEATABLE READ
-- on).

-- @schema
CREATE TABLE orders (id int PRIMARY KEY, status text);

-- @setup
INSERT INTO orders (id, status) VALUES (1, 'new');

-- @session job
\step pack
UPDATE orders SET status = 'packing' WHERE id = 1;
\step ship
UPDATE orders SET status = 'shipped' WHERE id = 1;

-- @session customer
\step look
SELECT status FROM orders WHERE id = 1 \gset
\echo the page says :status
\step reload
SELECT status FROM orders WHERE id = 1 \gset
\echo the page says :status

-- @order job pack, customer look, job ship, job commit, customer reload, customer commit

-- @check the customer never sees the order in packing
SELECT 'packing' NOT IN (seen('customer', 'look', 'status'), seen('customer', 'reload', 'status'));

-- @expect read-committed: prevented, explored anomaly
-- @expect repeatable-read, serializable: prevented
