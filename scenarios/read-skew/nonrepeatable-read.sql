-- @title Non-repeatable read: the page shows one price, the card pays another
-- Formal name: P2 fuzzy read, non-repeatable read.
--
-- A checkout reads the price to show it, and reads it again a moment later to charge the card. Between the two reads
-- the shop raises the price from $100 to $120. The customer agreed to $100 and pays $120, and each of the two reads was
-- right when it was made.

-- @schema
CREATE TABLE products (id int PRIMARY KEY, price int NOT NULL);
CREATE TABLE charges (amount int NOT NULL);

-- @setup
INSERT INTO products (id, price) VALUES (1, 100);

-- @session checkout
\step show
SELECT price AS shown FROM products WHERE id = 1 \gset
\echo the page says $:shown
\step charge
SELECT price AS charged FROM products WHERE id = 1 \gset
INSERT INTO charges (amount) VALUES (:charged);
\echo the card pays $:charged

-- @session shop
\step raise
UPDATE products SET price = 120 WHERE id = 1;

-- @order checkout show, shop raise, shop commit, checkout charge, checkout commit

-- @check the card pays what the page has shown
SELECT amount = seen('checkout', 'show', 'shown')::int FROM charges;

-- @measure shown in $
SELECT seen('checkout', 'show', 'shown')::int;

-- @measure charged in $
SELECT coalesce(sum(amount), 0) FROM charges;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented

-- @fix for-share
-- The first read takes a shared lock on the row: nobody can change the price until the checkout is done.
-- Catalogue: FOR SHARE on the first read
-- @session checkout
\step show
SELECT price AS shown FROM products WHERE id = 1 FOR SHARE \gset
\step charge
SELECT price AS charged FROM products WHERE id = 1 \gset
INSERT INTO charges (amount) VALUES (:charged);
-- @expect all: waits

-- @fix read-once
-- The checkout keeps the price that it has shown and charges that one. It costs nothing and holds at every level.
-- Catalogue: read once, reuse the value
-- @session checkout
\step show
SELECT price AS shown FROM products WHERE id = 1 \gset
\step charge
INSERT INTO charges (amount) VALUES (:shown);
-- @expect all: prevented
