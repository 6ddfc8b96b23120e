-- @title Two guests book overlapping times with one host
-- Formal name: G2 predicate write skew (phantom).
--
-- The calendar is free from 10 to 13. One guest books 10 to 12, another 11 to 13. Each request looks for bookings in
-- its way, finds none, and inserts. A first patch put FOR UPDATE on the query that looks: there is no row yet, so
-- there is nothing to lock, and the host is still booked twice.

-- @schema
CREATE TABLE hosts (id int PRIMARY KEY);
CREATE TABLE bookings (
  id      int       GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host_id int       NOT NULL,
  during  int4range NOT NULL
);

-- @setup
INSERT INTO hosts VALUES (5);

-- @transaction book(since, until)
\step check
SELECT count(*) AS clashes FROM bookings WHERE host_id = 5 AND during && int4range(:since, :until) \gset
\if :clashes > 0
  \reject the time is taken
\endif
\step insert
INSERT INTO bookings (host_id, during) VALUES (5, int4range(:since, :until));

-- @session anna: book(10, 12)
-- @session ben:  book(11, 13)
-- @order anna check, ben check, anna insert, anna commit, ben insert, ben commit

-- @check no two bookings of a host overlap
SELECT NOT EXISTS (
  SELECT 1 FROM bookings a JOIN bookings b ON a.host_id = b.host_id AND a.id < b.id AND a.during && b.during);

-- @measure bookings
SELECT count(*) FROM bookings;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at ben insert

-- @fix lock-what-is-there
-- Not a fix: FOR UPDATE on the query that looks locks the rows that it finds, and it finds none.
-- @retry 10
-- @transaction book(since, until)
\step check
SELECT id FROM bookings WHERE host_id = 5 AND during && int4range(:since, :until) LIMIT 1 FOR UPDATE \gset
\if :id IS NOT NULL
  \reject the time is taken
\endif
\step insert
INSERT INTO bookings (host_id, during) VALUES (5, int4range(:since, :until));
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at ben insert then holds

-- @fix lock-host
-- Locks the host, who is always there. It holds at READ COMMITTED; at REPEATABLE READ the snapshot is from before the
-- wait.
-- @retry 10
-- @transaction book(since, until)
\step lock
SELECT FROM hosts WHERE id = 5 FOR UPDATE;
\step check
SELECT count(*) AS clashes FROM bookings WHERE host_id = 5 AND during && int4range(:since, :until) \gset
\if :clashes > 0
  \reject the time is taken
\endif
\step insert
INSERT INTO bookings (host_id, during) VALUES (5, int4range(:since, :until));
-- @order anna lock, ben lock, anna check, anna insert, anna commit, ben check, ben insert, ben commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at ben insert then holds

-- @fix advisory-lock
-- An advisory lock for each host: the same strength and the same hole at REPEATABLE READ.
-- @requires database
-- @retry 10
-- @transaction book(since, until)
\step lock
SELECT pg_advisory_xact_lock(5);
\step check
SELECT count(*) AS clashes FROM bookings WHERE host_id = 5 AND during && int4range(:since, :until) \gset
\if :clashes > 0
  \reject the time is taken
\endif
\step insert
INSERT INTO bookings (host_id, during) VALUES (5, int4range(:since, :until));
-- @order anna lock, ben lock, anna check, anna insert, anna commit, ben check, ben insert, ben commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at ben insert then holds

-- @fix exclusion-constraint
-- The schema forbids the overlap, at every level, and the client turns the violation into an answer.
-- @requires extension btree_gist
-- @retry 10
-- @schema
ALTER TABLE bookings ADD EXCLUDE USING gist (host_id WITH =, during WITH &&);
-- @transaction book(since, until)
\step check
SELECT count(*) AS clashes FROM bookings WHERE host_id = 5 AND during && int4range(:since, :until) \gset
\if :clashes > 0
  \reject the time is taken
\endif
\step insert
\try
  INSERT INTO bookings (host_id, during) VALUES (5, int4range(:since, :until));
\on 23P01
  \rollback the time is taken
\endtry
-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: stopped 40001 at ben insert then holds

-- @fix serializable at serializable
-- PostgreSQL refuses one of the two; its retry finds the other booking.
-- @retry 10
-- @expect serializable: stopped 40001 at ben insert then holds
