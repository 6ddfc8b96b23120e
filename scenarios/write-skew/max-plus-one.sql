-- @title MAX + 1: two invoices get the same number
-- Formal name: G2 write skew over a predicate.
--
-- Invoice numbers must have no gaps, so a sequence is out, and each request takes the highest number of the year plus
-- one. Alice and Bob bill two customers in the same second. Both read 1, both write 2. The tax office finds it before
-- the developers do.

-- @schema
CREATE TABLE invoices (year int NOT NULL, number int NOT NULL, who text NOT NULL);
CREATE TABLE numberings (year int PRIMARY KEY, last int NOT NULL);

-- @setup
INSERT INTO invoices (year, number, who) VALUES (2024, 1, 'carol');
INSERT INTO numberings (year, last) VALUES (2024, 1);

-- @transaction bill(who)
\step number
SELECT max(number) + 1 AS next FROM invoices WHERE year = 2024 \gset
\echo :who takes number :next
\step insert
INSERT INTO invoices (year, number, who) VALUES (2024, :next, :who);

-- @session alice: bill('alice')
-- @session bob:   bill('bob')
-- @order alice number, bob number, alice insert, bob insert, alice commit, bob commit

-- @check no number is used twice
SELECT count(*) = count(DISTINCT number) FROM invoices WHERE year = 2024;

-- @measure invoices
SELECT count(*) FROM invoices;

-- @measure numbers
SELECT count(DISTINCT number) FROM invoices;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix unique
-- The table refuses the second row, and the client retries after 23505 as well: its next attempt takes the next number.
-- Catalogue: unique constraint, retry also on 23505
-- @retry 10 also 23505
-- @schema
ALTER TABLE invoices ADD UNIQUE (year, number);
-- @expect read-committed, repeatable-read: stopped 23505 at bob insert then holds
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix counter
-- A row for each year holds the last number; the UPDATE that raises it also hands it out. Billing queues up behind it,
-- and a ROLLBACK gives the number back.
-- Catalogue: counter row UPDATE ... RETURNING
-- @retry 10
-- @transaction bill(who)
\step number
UPDATE numberings SET last = last + 1 WHERE year = 2024 RETURNING last AS next \gset
\step insert
INSERT INTO invoices (year, number, who) VALUES (2024, :next, :who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob number then holds

-- @fix advisory-lock
-- A lock on the year. At REPEATABLE READ it fails silently: the statement that waits for the lock has taken the
-- snapshot already.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction bill(who)
\step lock
SELECT pg_advisory_xact_lock(2024);
\step number
SELECT max(number) + 1 AS next FROM invoices WHERE year = 2024 \gset
\step insert
INSERT INTO invoices (year, number, who) VALUES (2024, :next, :who);
-- @order alice number, bob lock, bob number, alice insert, bob insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix for-update
-- Does not help below SERIALIZABLE: Bob waits for the highest row and then gets that same row. The new highest one was
-- not there when his statement began.
-- Catalogue: SELECT ... FOR UPDATE of the highest row (does not help)
-- @retry 10
-- @transaction bill(who)
\step number
SELECT number + 1 AS next FROM invoices WHERE year = 2024 ORDER BY number DESC LIMIT 1 FOR UPDATE \gset
\step insert
INSERT INTO invoices (year, number, who) VALUES (2024, :next, :who);
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds
