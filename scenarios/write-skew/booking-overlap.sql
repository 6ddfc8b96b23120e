-- @title Double booking: two meetings in one room at one time
-- Formal name: G2 write skew over a predicate, phantom.
--
-- Alice books the room from 9 to 11, Bob from 10 to 12. Each request looks for bookings that overlap, finds none, and
-- inserts its own. There was no row that the two could have met at: what each of them relied on was that a row did not
-- exist.

-- @schema
CREATE TABLE rooms (id int PRIMARY KEY, version int NOT NULL DEFAULT 0);
CREATE TABLE bookings (room_id int NOT NULL, hours int4range NOT NULL, who text NOT NULL);

-- @setup
INSERT INTO rooms (id) VALUES (1);

-- @transaction book(who, first, last)
\step check
SELECT count(*) AS overlapping FROM bookings WHERE room_id = 1 AND hours && int4range(:first, :last) \gset
\echo bookings between :first and :last: :overlapping
\if :overlapping > 0
  \reject the room is taken
\endif
\step insert
INSERT INTO bookings (room_id, hours, who) VALUES (1, int4range(:first, :last), :who);

-- @session alice: book('alice', 9, 11)
-- @session bob:   book('bob', 10, 12)
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @check no two bookings of a room overlap
SELECT NOT EXISTS (SELECT FROM bookings AS a JOIN bookings AS b USING (room_id)
                    WHERE a.who < b.who AND a.hours && b.hours);

-- @measure bookings
SELECT count(*) FROM bookings;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix exclusion-constraint
-- The table itself refuses what overlaps, at every level, with 23P01. A retry would not help: the application has to
-- say that the room is taken.
-- Catalogue: exclusion constraint (23P01)
-- @requires extension btree_gist
-- @schema
ALTER TABLE bookings ADD EXCLUDE USING gist (room_id WITH =, hours WITH &&);
-- @expect all: stopped 23P01 at bob insert

-- @fix temporal-key
-- The same as a primary key, from PostgreSQL 18 on.
-- Catalogue: temporal primary key WITHOUT OVERLAPS (18+)
-- @requires version >= 18
-- @requires extension btree_gist
-- @schema
ALTER TABLE bookings ADD PRIMARY KEY (room_id, hours WITHOUT OVERLAPS);
-- @expect all: stopped 23P01 at bob insert

-- @fix for-update
-- Lock the room before looking. At REPEATABLE READ it fails silently: the snapshot is older than the wait.
-- Catalogue: FOR UPDATE on the parent room
-- @retry 10
-- @transaction book(who, first, last)
\step lock
SELECT id FROM rooms WHERE id = 1 FOR UPDATE;
\step check
SELECT count(*) AS overlapping FROM bookings WHERE room_id = 1 AND hours && int4range(:first, :last) \gset
\if :overlapping > 0
  \reject the room is taken
\endif
\step insert
INSERT INTO bookings (room_id, hours, who) VALUES (1, int4range(:first, :last), :who);
-- @order alice check, bob lock, bob check, alice insert, bob insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix update-parent
-- Write the room in place of locking it. Now the row that Bob waits for has changed, and from REPEATABLE READ on 40001
-- says so.
-- Catalogue: UPDATE the parent room (materialise the conflict)
-- @retry 10
-- @transaction book(who, first, last)
\step lock
UPDATE rooms SET version = version + 1 WHERE id = 1;
\step check
SELECT count(*) AS overlapping FROM bookings WHERE room_id = 1 AND hours && int4range(:first, :last) \gset
\if :overlapping > 0
  \rollback the room is taken
\endif
\step insert
INSERT INTO bookings (room_id, hours, who) VALUES (1, int4range(:first, :last), :who);
-- @order alice check, bob lock, bob check, alice insert, bob insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix advisory-lock
-- A lock on the room's number, where there is no row to lock. At REPEATABLE READ it fails silently like FOR UPDATE.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction book(who, first, last)
\step lock
SELECT pg_advisory_xact_lock(1);
\step check
SELECT count(*) AS overlapping FROM bookings WHERE room_id = 1 AND hours && int4range(:first, :last) \gset
\if :overlapping > 0
  \reject the room is taken
\endif
\step insert
INSERT INTO bookings (room_id, hours, who) VALUES (1, int4range(:first, :last), :who);
-- @order alice check, bob lock, bob check, alice insert, bob insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds
