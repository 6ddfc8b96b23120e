-- @title A serialization failure at READ COMMITTED
-- Formal name: 40001 because the row moved to another partition.
--
-- The ticket table is partitioned by status. One agent closes a ticket, which moves its row to another partition;
-- another agent adds a note to it in the same moment and waits for the row. At READ COMMITTED a waiting UPDATE goes on
-- with the newest version of the row, but not across partitions: it fails with 40001, at the level that is said never
-- to raise it.

-- @schema
CREATE TABLE tickets (id int NOT NULL, status text NOT NULL, note text NOT NULL) PARTITION BY LIST (status);
CREATE TABLE open_tickets PARTITION OF tickets FOR VALUES IN ('open');
CREATE TABLE closed_tickets PARTITION OF tickets FOR VALUES IN ('closed');

-- @setup
INSERT INTO tickets VALUES (1, 'open', '');

-- @session close
\step update
UPDATE tickets SET status = 'closed' WHERE id = 1;

-- @session note
\step update
UPDATE tickets SET note = 'called back' WHERE id = 1;

-- @order close update, note update, close commit, note commit

-- @check nobody is sent away with a serialization failure
SELECT NOT raised('40001');

-- @expect all: happens 40001 at note update

-- @fix retry
-- Whoever writes rows that can move between partitions needs the retry loop at READ COMMITTED as well.
-- Catalogue: retry at every level (the note ends up stored)
-- @retry 10
-- @check nobody is sent away with a serialization failure
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @check the note of whoever got through is stored
SELECT (note = 'called back') = committed('note') FROM tickets;
-- @expect all: stopped 40001 at note update then holds

-- @fix plain-table
-- In a table that is not partitioned, or by a column that never changes, the waiting UPDATE follows the row.
-- Catalogue: do not partition by a column that changes
-- @retry 10
-- @schema
DROP TABLE tickets;
CREATE TABLE tickets (id int PRIMARY KEY, status text NOT NULL, note text NOT NULL);
-- @check nobody is sent away with a serialization failure
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @check the note of whoever got through is stored
SELECT (note = 'called back') = committed('note') FROM tickets;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at note update then holds
