-- @title Oversold: more tickets than seats
-- Formal name: G2 write skew over a predicate (a count).
--
-- The hall has two seats and one is sold. Alice and Bob both press "buy". Each request counts the tickets, finds one,
-- and sells another. Three people come to two seats, and there is no error in any log.

-- @schema
CREATE TABLE events (id int PRIMARY KEY, seats int NOT NULL, sold int NOT NULL);
CREATE TABLE tickets (event_id int NOT NULL, who text NOT NULL);

-- @setup
INSERT INTO events (id, seats, sold) VALUES (1, 2, 1);
INSERT INTO tickets (event_id, who) VALUES (1, 'carol');

-- @transaction buy(who)
\step check
SELECT seats FROM events WHERE id = 1 \gset
SELECT count(*) AS taken FROM tickets WHERE event_id = 1 \gset
\echo :taken of :seats seats are taken
\if :taken >= :seats
  \reject sold out
\endif
\step sell
INSERT INTO tickets (event_id, who) VALUES (1, :who);

-- @session alice: buy('alice')
-- @session bob:   buy('bob')
-- @order alice check, bob check, alice sell, bob sell, alice commit, bob commit

-- @check no more tickets than seats
SELECT count(*) <= (SELECT seats FROM events WHERE id = 1) FROM tickets WHERE event_id = 1;

-- @measure tickets
SELECT count(*) FROM tickets WHERE event_id = 1;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix for-update
-- Lock the event before counting. At REPEATABLE READ it fails silently: the snapshot is older than the wait.
-- Catalogue: FOR UPDATE on the parent event
-- @retry 10
-- @transaction buy(who)
\step lock
SELECT seats FROM events WHERE id = 1 FOR UPDATE \gset
\step check
SELECT count(*) AS taken FROM tickets WHERE event_id = 1 \gset
\if :taken >= :seats
  \reject sold out
\endif
\step sell
INSERT INTO tickets (event_id, who) VALUES (1, :who);
-- @order alice check, bob lock, bob check, alice sell, bob sell, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob sell then holds

-- @fix for-update-rows
-- Does not help below SERIALIZABLE: it locks the tickets that are sold, and Bob does wait for those. The ticket that
-- Alice sells meanwhile is a new row, which his count, begun before the wait, does not see.
-- Catalogue: FOR UPDATE on the rows counted (does not help)
-- @retry 10
-- @transaction buy(who)
\step check
SELECT seats FROM events WHERE id = 1 \gset
SELECT count(*) AS taken FROM (SELECT 1 FROM tickets WHERE event_id = 1 FOR UPDATE) AS locked \gset
\if :taken >= :seats
  \reject sold out
\endif
\step sell
INSERT INTO tickets (event_id, who) VALUES (1, :who);
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob sell then holds

-- @fix counter
-- The event keeps a count of its own, and one UPDATE checks it and raises it. It holds at every level, from REPEATABLE
-- READ on with a retry.
-- Catalogue: counter column, conditional UPDATE
-- @retry 10
-- @transaction buy(who)
\step check
UPDATE events SET sold = sold + 1 WHERE id = 1 AND sold < seats;
\if :ROW_COUNT = 0
  \rollback sold out
\endif
\step sell
INSERT INTO tickets (event_id, who) VALUES (1, :who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob check then holds

-- @fix advisory-lock
-- A lock on the event's number. At REPEATABLE READ it fails silently like FOR UPDATE.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction buy(who)
\step lock
SELECT pg_advisory_xact_lock(1);
\step check
SELECT seats FROM events WHERE id = 1 \gset
SELECT count(*) AS taken FROM tickets WHERE event_id = 1 \gset
\if :taken >= :seats
  \reject sold out
\endif
\step sell
INSERT INTO tickets (event_id, who) VALUES (1, :who);
-- @order alice check, bob lock, bob check, alice sell, bob sell, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob sell then holds
