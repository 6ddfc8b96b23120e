-- @title Read skew over two tables: the order lines add up to more than the orders
-- Formal name: G-single with predicate dependencies.
--
-- A report adds up the totals of the orders and then the amounts of their lines. Between the two a shopper places an
-- order of $25, header and line in one transaction. The report shows $10 in orders and $35 in lines, and somebody
-- spends the afternoon looking for $25 that were never missing.

-- @schema
CREATE TABLE orders (id int PRIMARY KEY, total int NOT NULL);
CREATE TABLE order_lines (order_id int NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO orders (id, total) VALUES (1, 10);
INSERT INTO order_lines (order_id, amount) VALUES (1, 10);

-- @session report
\step orders
SELECT sum(total) AS orders FROM orders \gset
\step lines
SELECT sum(amount) AS lines FROM order_lines \gset
\echo orders $:orders, lines $:lines

-- @session shopper
\step order
INSERT INTO orders (id, total) VALUES (2, 25);
\step line
INSERT INTO order_lines (order_id, amount) VALUES (2, 25);

-- @order report orders, shopper commit, report lines, report commit

-- @check the orders and their lines add up to the same
SELECT seen('report', 'orders', 'orders')::int = seen('report', 'lines', 'lines')::int;

-- @measure orders in $
SELECT seen('report', 'orders', 'orders')::int;

-- @measure lines in $
SELECT seen('report', 'lines', 'lines')::int;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented

-- @fix one-statement
-- Both sums in one statement see one moment, at every level.
-- Catalogue: one statement for both reads
-- @session report
\step sums
SELECT (SELECT sum(total) FROM orders) AS orders, (SELECT sum(amount) FROM order_lines) AS lines \gset
-- @order shopper order, report sums, shopper commit, report commit
-- @check the orders and their lines add up to the same
SELECT seen('report', 'sums', 'orders')::int = seen('report', 'sums', 'lines')::int;
-- @measure orders in $
SELECT seen('report', 'sums', 'orders')::int;
-- @measure lines in $
SELECT seen('report', 'sums', 'lines')::int;
-- @expect all: prevented
