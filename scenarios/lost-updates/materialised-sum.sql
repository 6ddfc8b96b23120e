-- @title A stored total misses a line of its order
-- Formal name: P4 lost update, G2: a derived value computed from a stale snapshot.
--
-- Two shoppers of one household each add an item to the shared basket. Each request inserts its line and then sets the
-- basket's total to the sum of the lines. Neither sees the other's line, since it is not committed yet. The last one to
-- write the total wins: the basket holds $10 and $20, and the total says $20.

-- @schema
CREATE TABLE baskets (id int PRIMARY KEY, total int NOT NULL);
CREATE TABLE basket_lines (basket_id int NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO baskets (id, total) VALUES (1, 0);

-- @transaction add(amount)
\step insert
INSERT INTO basket_lines (basket_id, amount) VALUES (1, :amount);
\step total
UPDATE baskets SET total = (SELECT sum(amount) FROM basket_lines WHERE basket_id = 1) WHERE id = 1;

-- @session alice: add(10)
-- @session bob:   add(20)
-- @order alice insert, bob insert, alice total, bob total, alice commit, bob commit

-- @check the total is the sum of the lines
SELECT total = (SELECT coalesce(sum(amount), 0) FROM basket_lines WHERE basket_id = 1) FROM baskets WHERE id = 1;

-- @measure total in $
SELECT total FROM baskets WHERE id = 1;

-- @measure lines in $
SELECT coalesce(sum(amount), 0) FROM basket_lines WHERE basket_id = 1;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob total

-- @fix delta
-- Add the amount to the total in place of summing up: a waiter adds to the newest total.
-- Catalogue: delta UPDATE (total = total + amount)
-- @retry 10
-- @transaction add(amount)
\step insert
INSERT INTO basket_lines (basket_id, amount) VALUES (1, :amount);
\step total
UPDATE baskets SET total = total + :amount WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob total then holds

-- @fix for-update
-- Lock the basket before anything else, so that whole requests come one after the other.
-- Catalogue: FOR UPDATE on the parent first
-- @retry 10
-- @transaction add(amount)
\step lock
SELECT id FROM baskets WHERE id = 1 FOR UPDATE;
\step insert
INSERT INTO basket_lines (basket_id, amount) VALUES (1, :amount);
\step total
UPDATE baskets SET total = (SELECT sum(amount) FROM basket_lines WHERE basket_id = 1) WHERE id = 1;
-- @order alice insert, bob lock, bob insert, alice total, bob total, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix for-no-key-update
-- The weaker lock is enough, and it leaves foreign keys alone: inserts that refer to the basket need not wait.
-- Catalogue: FOR NO KEY UPDATE on the parent first
-- @retry 10
-- @transaction add(amount)
\step lock
SELECT id FROM baskets WHERE id = 1 FOR NO KEY UPDATE;
\step insert
INSERT INTO basket_lines (basket_id, amount) VALUES (1, :amount);
\step total
UPDATE baskets SET total = (SELECT sum(amount) FROM basket_lines WHERE basket_id = 1) WHERE id = 1;
-- @order alice insert, bob lock, bob insert, alice total, bob total, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds
