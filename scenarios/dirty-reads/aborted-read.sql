-- @title Dirty read: a customer sees a price that was taken back
-- Formal name: P1 dirty read, G1a aborted read.
--
-- An editor mistypes a price, $1 in place of $100, notices, and rolls back. In between a customer loads the page. On a
-- database that reads uncommitted rows the customer would see $1, a price that never was. PostgreSQL shows committed
-- rows only, at every level, and it treats READ UNCOMMITTED as READ COMMITTED.

-- @schema
CREATE TABLE products (id int PRIMARY KEY, price int);

-- @setup
INSERT INTO products (id, price) VALUES (1, 100);

-- @session editor
BEGIN;
\step update
UPDATE products SET price = 1 WHERE id = 1;
ROLLBACK;

-- @session customer
\step look
SELECT price FROM products WHERE id = 1 \gset
\echo the page says $:price

-- @order editor update, customer look, editor rollback, customer commit

-- @check the customer sees a price that was committed
SELECT seen('customer', 'look', 'price')::int = 100;

-- @expect all: prevented
