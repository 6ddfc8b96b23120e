-- @title FOR UPDATE on a row that does not exist yet locks nothing
-- Formal name: G2 phantom (PostgreSQL has no gap locks).
--
-- Alice and Bob both want table 1 at nine o'clock. The request was written with care: it looks for a booking with
-- SELECT ... FOR UPDATE, and inserts only when there is none. But there is no row yet, so there is nothing to lock.
-- Both find nothing, neither waits, and both insert. MySQL's InnoDB locks such a gap, PostgreSQL does not.

-- @schema
CREATE TABLE bookings (table_no int NOT NULL, hour int NOT NULL, who text NOT NULL);

-- @transaction book(who)
\step check
SELECT who AS holder FROM bookings WHERE table_no = 1 AND hour = 9 FOR UPDATE \gset
\if :ROW_COUNT > 0
  \reject the table is taken
\endif
\step insert
INSERT INTO bookings (table_no, hour, who) VALUES (1, 9, :who);

-- @session alice: book('alice')
-- @session bob:   book('bob')
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @check one booking for a table and an hour
SELECT count(*) <= 1 FROM bookings WHERE table_no = 1 AND hour = 9;

-- @measure bookings
SELECT count(*) FROM bookings;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix unique
-- The table itself refuses the second row. The loser gets 23505, which the application has to turn into "taken"; at
-- SERIALIZABLE it gets 40001 first, and its retry finds the booking.
-- Catalogue: unique constraint (23505)
-- @retry 10
-- @schema
ALTER TABLE bookings ADD UNIQUE (table_no, hour);
-- @expect read-committed, repeatable-read: stopped 23505 at bob insert
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix advisory-lock
-- A lock on the numbers of the table and the hour needs no row. At REPEATABLE READ it fails silently: the statement
-- that waits for the lock has taken the snapshot already.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction book(who)
\step lock
SELECT pg_advisory_xact_lock(1, 9);
\step check
SELECT who AS holder FROM bookings WHERE table_no = 1 AND hour = 9 FOR UPDATE \gset
\if :ROW_COUNT > 0
  \reject the table is taken
\endif
\step insert
INSERT INTO bookings (table_no, hour, who) VALUES (1, 9, :who);
-- @order alice check, bob lock, bob check, alice insert, bob insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds
