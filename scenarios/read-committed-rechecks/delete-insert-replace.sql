-- @title Saving settings by DELETE and INSERT leaves two rows
-- Formal name: EvalPlanQual, G2: the one who waited cannot see the new row.
--
-- A settings page saves by deleting the old row and inserting the new one. The user saves twice in quick succession.
-- The second DELETE waits for the first request; then the row that it waited for is gone, and the row that took its
-- place is younger than the statement's snapshot. It deletes nothing, inserts its own, and the user has two themes.

-- @schema
CREATE TABLE settings (user_id int NOT NULL, key text NOT NULL, value text NOT NULL);

-- @setup
INSERT INTO settings VALUES (1, 'theme', 'grey');

-- @transaction save(value)
\step delete
DELETE FROM settings WHERE user_id = 1 AND key = 'theme';
\step insert
INSERT INTO settings VALUES (1, 'theme', :value);

-- @session first:  save('dark')
-- @session second: save('light')
-- @order first delete, second delete, first insert, first commit, second insert, second commit

-- @check the user has one theme
SELECT count(*) = 1 FROM settings WHERE user_id = 1 AND key = 'theme';

-- @measure rows
SELECT count(*) FROM settings WHERE user_id = 1 AND key = 'theme';

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at second delete

-- @fix unique-constraint
-- The data stay right, and at READ COMMITTED the second request fails with a unique violation that somebody has to
-- explain to the user.
-- Catalogue: unique constraint (23505)
-- @retry 10
-- @schema
ALTER TABLE settings ADD UNIQUE (user_id, key);
-- @expect read-committed: stopped 23505 at second insert
-- @expect repeatable-read, serializable: stopped 40001 at second delete then holds

-- @fix upsert
-- One statement that inserts the row or changes the one that is there: the second request waits and then overwrites.
-- Catalogue: unique + upsert
-- @retry 10
-- @schema
ALTER TABLE settings ADD UNIQUE (user_id, key);
-- @transaction save(value)
\step save
INSERT INTO settings VALUES (1, 'theme', :value)
  ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value;
-- @order first save, second save, first commit, second commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at second save then holds

-- @fix advisory-lock
-- Requests of one user come one after the other. At READ COMMITTED the DELETE has a snapshot from after the wait; from
-- REPEATABLE READ on it has not, and 40001 and the retry have to do the rest.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction save(value)
\step lock
SELECT pg_advisory_xact_lock(1);
\step delete
DELETE FROM settings WHERE user_id = 1 AND key = 'theme';
\step insert
INSERT INTO settings VALUES (1, 'theme', :value);
-- @order first lock, first delete, second lock, second delete, first commit, second commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at second delete then holds
