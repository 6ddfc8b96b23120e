-- @title The snapshot is not taken at BEGIN
-- Formal name: snapshot timing (no anomaly of Adya's).
--
-- An export begins a REPEATABLE READ transaction, notes now() as "everything up to here", and then prepares its files.
-- An order comes in meanwhile. The first query of the export finds it: the snapshot is taken by the first query, and
-- now() is the time of BEGIN. The next export, which starts where this one said it ended, exports the order again.

-- @schema
CREATE TABLE orders (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT clock_timestamp());

-- @session export
\step begin
BEGIN;
\step read
SELECT count(*) AS later FROM orders WHERE created > now() \gset
\echo :later orders in the export are from after its own now()
COMMIT;

-- @session shop
\step insert
INSERT INTO orders (id) VALUES (1);

-- @order export begin, shop commit, export read, export commit

-- @check the export has nothing from after its beginning
SELECT seen('export', 'read', 'later')::int = 0;

-- @measure later
SELECT seen('export', 'read', 'later')::int;

-- @expect all: happens

-- @fix snapshot-at-once
-- Any query right after BEGIN takes the snapshot. At READ COMMITTED it does not help: each statement takes its own.
-- Catalogue: take the snapshot at once (SELECT 1)
-- @session export
\step begin
BEGIN;
SELECT 1;
\step read
SELECT count(*) AS later FROM orders WHERE created > now() \gset
COMMIT;
-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented
