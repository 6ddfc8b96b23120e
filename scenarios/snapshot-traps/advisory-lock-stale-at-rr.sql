-- @title An advisory lock around the last seat, and both visitors get it
-- Formal name: G2 at REPEATABLE READ despite a mutex.
--
-- A workshop has two seats and one is taken. Each booking first takes an advisory lock, so that bookings come one
-- after the other. Bob waits for Alice, gets the lock, counts the tickets, and still finds a free seat: his SELECT of
-- the lock function was the first query of the transaction, so the snapshot is from before he waited. The workshop is
-- overbooked.

-- @requires database

-- @schema
CREATE TABLE workshops (id int PRIMARY KEY, seats int NOT NULL);
CREATE TABLE tickets (workshop_id int NOT NULL, visitor text NOT NULL);

-- @setup
INSERT INTO workshops VALUES (1, 2);
INSERT INTO tickets VALUES (1, 'carol');

-- @transaction book(who)
\step lock
SELECT pg_advisory_xact_lock(1);
\step count
SELECT seats FROM workshops WHERE id = 1 \gset
SELECT count(*) AS taken FROM tickets WHERE workshop_id = 1 \gset
\echo :who counts :taken of :seats seats taken
\if :taken >= :seats
  \reject sold out
\endif
\step insert
INSERT INTO tickets VALUES (1, :who);

-- @session alice: book('alice')
-- @session bob:   book('bob')
-- @order alice lock, bob lock, alice count, alice insert, alice commit, bob count, bob insert, bob commit

-- @check no more tickets than seats
SELECT count(*) <= 2 FROM tickets WHERE workshop_id = 1;

-- @measure tickets
SELECT count(*) FROM tickets WHERE workshop_id = 1;

-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert

-- @fix lock-before-begin
-- The lock of the session, taken before the transaction begins and given back after it has ended: whoever waited
-- begins with a fresh snapshot. It holds at every level, but the unlock must not be forgotten on any way out.
-- Catalogue: session lock before BEGIN, unlock after COMMIT
-- @transaction book(who)
\step lock
SELECT pg_advisory_lock(1);
BEGIN;
\step count
SELECT seats FROM workshops WHERE id = 1 \gset
SELECT count(*) AS taken FROM tickets WHERE workshop_id = 1 \gset
\if :taken < :seats
  \step insert
  INSERT INTO tickets VALUES (1, :who);
\endif
COMMIT;
\step unlock
SELECT pg_advisory_unlock(1);
\if :taken >= :seats
  \reject sold out
\endif
-- @expect all: waits
