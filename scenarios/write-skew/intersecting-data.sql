-- @title Intersecting data: two closing jobs each book a sum without the other's
-- Formal name: G2 write skew over a predicate (intersecting data).
--
-- At the end of the month one job adds up the sales and books the sum under costs, another adds up the costs and books
-- the sum under sales. Whichever runs second should find the first one's entry in its sum. At once, neither does: each
-- reads its own side, writes to the other side, and never meets a row that the other has touched.

-- @schema
CREATE TABLE entries (ledger text NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO entries (ledger, amount) VALUES ('sales', 10), ('sales', 20), ('costs', 100), ('costs', 200);

-- @transaction close(source, target)
\step sum
SELECT sum(amount) AS total FROM entries WHERE ledger = :source \gset
\echo :source add up to $:total
\step book
INSERT INTO entries (ledger, amount) VALUES (:target, :total);

-- @session alice: close('sales', 'costs')
-- @session bob:   close('costs', 'sales')
-- @order alice sum, bob sum, alice book, bob book, alice commit, bob commit

-- @check one of the two sums includes the other
SELECT NOT (EXISTS (SELECT FROM entries WHERE ledger = 'costs' AND amount = 30)
        AND EXISTS (SELECT FROM entries WHERE ledger = 'sales' AND amount = 300));

-- @measure booked in $
SELECT sum(amount) - 330 FROM entries;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix advisory-lock
-- A lock on a number that both jobs agree on, taken before the sum. At REPEATABLE READ it fails silently: the statement
-- that waits for the lock has taken the snapshot already.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction close(source, target)
\step lock
SELECT pg_advisory_xact_lock(1);
\step sum
SELECT sum(amount) AS total FROM entries WHERE ledger = :source \gset
\step book
INSERT INTO entries (ledger, amount) VALUES (:target, :total);
-- @order alice sum, bob lock, bob sum, alice book, bob book, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob book then holds

-- @fix lock-table
-- LOCK TABLE takes no snapshot, so the sum after it is a fresh one at every level.
-- Catalogue: LOCK TABLE first
-- @transaction close(source, target)
\step lock
LOCK TABLE entries IN SHARE ROW EXCLUSIVE MODE;
\step sum
SELECT sum(amount) AS total FROM entries WHERE ledger = :source \gset
\step book
INSERT INTO entries (ledger, amount) VALUES (:target, :total);
-- @order alice sum, bob lock, bob sum, alice book, bob book, alice commit, bob commit
-- @expect all: waits
