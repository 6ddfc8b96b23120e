-- @title Optimistic locking whose check is not part of the write
-- Formal name: P4 lost update (a version that is compared in the client).
--
-- An edit form carries the version that it was loaded with. On saving, the program reads the version again, compares
-- it, and then writes by id alone. Two people save in the same moment: both compare before either writes, both are
-- told that their text was saved, and one text is gone.

-- @schema
CREATE TABLE notes (id int PRIMARY KEY, body text NOT NULL, version int NOT NULL);

-- @setup
INSERT INTO notes VALUES (1, '', 1);

-- @transaction edit(who)
BEGIN;
\step load
SELECT version AS loaded FROM notes WHERE id = 1 \gset
\step loaded
COMMIT;
BEGIN;
\step compare
SELECT version FROM notes WHERE id = 1 \gset
\if :version <> :loaded
  \rollback somebody else has saved
\endif
\step save
UPDATE notes SET body = :who, version = version + 1 WHERE id = 1;
COMMIT;

-- @session alice: edit('alice')
-- @session bob:   edit('bob')
-- @order alice loaded, bob loaded, alice compare, bob compare, alice save, alice commit, bob save, bob commit

-- @check no two texts that were reported as saved began from one version
SELECT count(*) = count(DISTINCT read.row ->> 'loaded')
  FROM isolab_told AS told JOIN isolab_read AS read USING (session, attempt)
 WHERE told.told = 'ok' AND read.step = 'load';

-- @check the version counts the texts that were reported as saved
SELECT version = 1 + (SELECT count(*) FROM isolab_told WHERE told = 'ok') FROM notes;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob save

-- @variant row-count-ignored
-- The version does stand in the WHERE, and nobody looks at the number of rows: Bob's UPDATE matches none, and he is
-- told that his text was saved. No level helps.
-- @transaction edit(who)
BEGIN;
\step load
SELECT version AS loaded FROM notes WHERE id = 1 \gset
\step loaded
COMMIT;
BEGIN;
\step save
UPDATE notes SET body = :who, version = version + 1 WHERE id = 1 AND version = :loaded;
COMMIT;
-- @order alice loaded, bob loaded, alice save, alice commit, bob save, bob commit
-- @expect all: happens

-- @fix compare-under-lock
-- The comparison locks the row, so the second one compares when the first has saved.
-- @retry 10
-- @transaction edit(who)
BEGIN;
\step load
SELECT version AS loaded FROM notes WHERE id = 1 \gset
\step loaded
COMMIT;
BEGIN;
\step compare
SELECT version FROM notes WHERE id = 1 FOR UPDATE \gset
\if :version <> :loaded
  \rollback somebody else has saved
\endif
\step save
UPDATE notes SET body = :who, version = version + 1 WHERE id = 1;
COMMIT;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob compare then holds

-- @fix row-count-checked
-- The version stands in the WHERE, and no row means that somebody else has saved.
-- @retry 10
-- @transaction edit(who)
BEGIN;
\step load
SELECT version AS loaded FROM notes WHERE id = 1 \gset
\step loaded
COMMIT;
BEGIN;
\step save
UPDATE notes SET body = :who, version = version + 1 WHERE id = 1 AND version = :loaded;
\if :ROW_COUNT = 0
  \rollback somebody else has saved
\endif
COMMIT;
-- @order alice loaded, bob loaded, alice save, bob save, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob save then holds
