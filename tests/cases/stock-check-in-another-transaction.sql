-- @title The last mug is sold twice: the stock is checked in one transaction and taken in another
-- Formal name: check and act in two transactions (no isolation level compares them).
--
-- The shop checks the stock when the cart moves on to the payment, and takes the mug from the stock when the payment
-- has settled, minutes later and in a transaction of its own. It does not check again. Two carts pass the check for
-- the last mug, and both pay.

-- @schema
CREATE TABLE items (sku text PRIMARY KEY, on_hand int NOT NULL);
CREATE TABLE sales (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sku text NOT NULL, buyer text NOT NULL);

-- @setup
INSERT INTO items VALUES ('mug', 1);

-- @transaction buy(who)
BEGIN;
\step check
SELECT on_hand FROM items WHERE sku = 'mug' \gset
\if :on_hand < 1
  \reject out of stock
\endif
\step checked
COMMIT;
BEGIN;
\step read
SELECT on_hand FROM items WHERE sku = 'mug' \gset
\step take
UPDATE items SET on_hand = :on_hand - 1 WHERE sku = 'mug';
INSERT INTO sales (sku, buyer) VALUES ('mug', :who);
COMMIT;

-- @session alice: buy('alice')
-- @session bob:   buy('bob')
-- @order alice checked, bob checked, alice take, alice commit, bob take, bob commit

-- @check one mug, one sale at most, and the stock agrees with the sales
SELECT count(*) <= 1 AND (SELECT on_hand FROM items) = 1 - count(*) FROM sales;

-- @measure sales
SELECT count(*) FROM sales;

-- @measure on_hand
SELECT on_hand FROM items;

-- @expect all: happens

-- @fix atomic-decrement
-- Not a fix: the database subtracts, and the stock falls below zero.
-- @transaction buy(who)
BEGIN;
\step check
SELECT on_hand FROM items WHERE sku = 'mug' \gset
\if :on_hand < 1
  \reject out of stock
\endif
\step checked
COMMIT;
BEGIN;
\step take
UPDATE items SET on_hand = on_hand - 1 WHERE sku = 'mug';
INSERT INTO sales (sku, buyer) VALUES ('mug', :who);
COMMIT;
-- @expect all: happens

-- @fix recheck-under-lock
-- The second transaction locks the row and checks again. It holds at every level, with a retry from REPEATABLE READ
-- on.
-- @retry 10
-- @transaction buy(who)
BEGIN;
\step check
SELECT on_hand FROM items WHERE sku = 'mug' \gset
\if :on_hand < 1
  \reject out of stock
\endif
\step checked
COMMIT;
BEGIN;
\step read
SELECT on_hand FROM items WHERE sku = 'mug' FOR UPDATE \gset
\if :on_hand < 1
  \reject sold out meanwhile
\endif
\step take
UPDATE items SET on_hand = :on_hand - 1 WHERE sku = 'mug';
INSERT INTO sales (sku, buyer) VALUES ('mug', :who);
COMMIT;
-- @order alice checked, bob checked, alice read, bob read, alice take, alice commit, bob take, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob read then holds

-- @fix conditional-update
-- The check stands in the WHERE of the UPDATE that takes the mug, and the number of rows says whether there was one.
-- @retry 10
-- @transaction buy(who)
BEGIN;
\step check
SELECT on_hand FROM items WHERE sku = 'mug' \gset
\if :on_hand < 1
  \reject out of stock
\endif
\step checked
COMMIT;
BEGIN;
\step take
UPDATE items SET on_hand = on_hand - 1 WHERE sku = 'mug' AND on_hand >= 1;
\if :ROW_COUNT = 0
  \rollback sold out meanwhile
\endif
INSERT INTO sales (sku, buyer) VALUES ('mug', :who);
COMMIT;
-- @order alice checked, bob checked, alice take, bob take, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob take then holds
