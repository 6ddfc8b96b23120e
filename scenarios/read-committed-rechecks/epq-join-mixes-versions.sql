-- @title An UPDATE with a join multiplies the new price by the old rate
-- Formal name: EvalPlanQual: only the row that is updated is read again.
--
-- The list price of an item and the exchange rate change together, in one transaction. A job that recalculates the
-- local price waits for the item's row. When it may go on it reads that row again, and no other: the list price is the
-- new one, the rate still the old one. The result belongs to no moment: 200 times 1, where 100 times 1 or 200 times 2
-- is right.

-- @schema
CREATE TABLE rates (currency text PRIMARY KEY, rate int NOT NULL);
CREATE TABLE items (id int PRIMARY KEY, list_price int NOT NULL, local_price int NOT NULL);

-- @setup
INSERT INTO rates VALUES ('local', 1);
INSERT INTO items VALUES (1, 100, 100);

-- @session change
\step update
UPDATE rates SET rate = 2 WHERE currency = 'local';
UPDATE items SET list_price = 200 WHERE id = 1;

-- @session job
\step recalculate
UPDATE items SET local_price = list_price * rates.rate FROM rates WHERE items.id = 1 AND rates.currency = 'local';

-- @order change update, job recalculate, change commit, job commit

-- @check price and rate are of one moment
SELECT local_price IN (100, 400) FROM items WHERE id = 1;

-- @measure local_price
SELECT local_price FROM items WHERE id = 1;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at job recalculate

-- @fix lock-both-first
-- A first statement locks both rows and waits; the UPDATE after it has a snapshot of its own, from after the wait.
-- Catalogue: lock the joined row too (first statement)
-- @retry 10
-- @session job
\step lock
SELECT 1 FROM items, rates WHERE items.id = 1 AND rates.currency = 'local' FOR UPDATE;
\step recalculate
UPDATE items SET local_price = list_price * rates.rate FROM rates WHERE items.id = 1 AND rates.currency = 'local';
-- @order change update, job lock, change commit, job commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at job lock then holds
