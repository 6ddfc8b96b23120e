-- @title READ UNCOMMITTED shows nothing uncommitted
-- Formal name: P1 at READ UNCOMMITTED (accepted, and treated as READ COMMITTED).
--
-- A dashboard asks for READ UNCOMMITTED to watch a price change while it is under way, or to read without waiting for
-- locks. PostgreSQL accepts the level and shows committed data only. Nothing is wrong with the data; the wish is in
-- vain, and unnecessary: a plain SELECT does not wait for writers at any level.

-- @schema
CREATE TABLE products (id int PRIMARY KEY, price int NOT NULL);

-- @setup
INSERT INTO products VALUES (1, 100);

-- @session shop
\step update
UPDATE products SET price = 1 WHERE id = 1;
\rollback a typing error

-- @session dashboard at read-uncommitted
\step read
SELECT price FROM products WHERE id = 1 \gset
\echo the dashboard shows $:price

-- @order shop update, dashboard read, shop commit, dashboard commit

-- @check the dashboard shows a price that was committed
SELECT seen('dashboard', 'read', 'price')::int = 100;

-- @measure price in $
SELECT seen('dashboard', 'read', 'price')::int;

-- @expect all: prevented
