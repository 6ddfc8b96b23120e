-- @title Lost update: two approvals, one total, and the first one vanishes
-- Formal name: P4 lost update.
--
-- Alice approves $1,200 and Bob approves $800 in the same moment. Each request reads the team's running total, adds its
-- amount in the application, and writes the sum back. Bob's sum was made from the total that he had read before Alice
-- wrote hers, so his write wipes her $1,200 out. Both were told that all went well.

-- @schema ../../schema.sql

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', 5000);

-- @transaction approve(who, amount)
\step read
SELECT spent FROM teams WHERE id = 'design' \gset
\echo $:spent spent so far, so :who writes $:spent + $:amount
\step write
UPDATE teams SET spent = :spent + :amount WHERE id = 'design';

-- @session alice: approve('alice', 1200)
-- @session bob:   approve('bob', 800)
-- @order alice read, bob read, alice write, alice commit, bob write, bob commit

-- @check every approval that was reported as done is in the total
SELECT spent = 1200 * committed('alice')::int + 800 * committed('bob')::int FROM teams WHERE id = 'design';

-- @measure spent in $
SELECT spent FROM teams WHERE id = 'design';

-- @measure expected in $
SELECT 1200 * committed('alice')::int + 800 * committed('bob')::int;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob write

-- @fix atomic
-- The database adds: one UPDATE reads the newest total and writes it back under the row's lock.
-- Catalogue: atomic UPDATE
-- @retry 10
-- @transaction approve(who, amount)
\step write
UPDATE teams SET spent = spent + :amount WHERE id = 'design';
-- @order alice write, bob write, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob write then holds

-- @fix for-update
-- The read takes the row's lock, so the second reader waits for the first one to commit.
-- Catalogue: FOR UPDATE on the read
-- @retry 10
-- @transaction approve(who, amount)
\step read
SELECT spent FROM teams WHERE id = 'design' FOR UPDATE \gset
\step write
UPDATE teams SET spent = :spent + :amount WHERE id = 'design';
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob read then holds

-- @fix for-no-key-update
-- The weaker lock is enough for a row whose key stays, and it leaves foreign keys alone: expenses that refer to the
-- team can be inserted meanwhile.
-- Catalogue: FOR NO KEY UPDATE on the read
-- @retry 10
-- @transaction approve(who, amount)
\step read
SELECT spent FROM teams WHERE id = 'design' FOR NO KEY UPDATE \gset
\step write
UPDATE teams SET spent = :spent + :amount WHERE id = 'design';
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob read then holds

-- @fix for-share
-- A trap: both get the shared lock, both wait for the other to let go of it, and one dies of a deadlock, at every
-- level. It holds only because the client retries after 40P01.
-- Catalogue: FOR SHARE on the read (deadlocks, needs retry)
-- @retry 10
-- @transaction approve(who, amount)
\step read
SELECT spent FROM teams WHERE id = 'design' FOR SHARE \gset
\step write
UPDATE teams SET spent = :spent + :amount WHERE id = 'design';
-- @order alice read, bob read, alice write, bob write, alice commit, bob commit
-- @expect all: stopped 40P01 then holds

-- @fix version-column
-- Optimistic locking: the write matches no row when somebody else has written since, and the loser is told. At READ
-- COMMITTED nothing is raised, so the application has to look at the row count.
-- Catalogue: version column (loser sees 0 rows and gives up)
-- @retry 10
-- @transaction approve(who, amount)
\step read
SELECT spent, version FROM teams WHERE id = 'design' \gset
\step write
UPDATE teams SET spent = :spent + :amount, version = version + 1 WHERE id = 'design' AND version = :version;
\if :ROW_COUNT = 0
  \rollback somebody else has changed the total, please look again
\endif
-- @order alice read, bob read, alice write, bob write, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob write then holds

-- @fix advisory-lock
-- A lock on a number that all writers agree on, taken before the read. Nothing reminds a writer that forgets it.
-- Catalogue: advisory xact lock before the read
-- @requires database
-- @retry 10
-- @transaction approve(who, amount)
\step lock
SELECT pg_advisory_xact_lock(1);
\step read
SELECT spent FROM teams WHERE id = 'design' \gset
\step write
UPDATE teams SET spent = :spent + :amount WHERE id = 'design';
-- @order alice read, bob lock, bob read, alice write, alice commit, bob write, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob write then holds

-- @fix repeatable-read at repeatable-read
-- From REPEATABLE READ on PostgreSQL refuses the second writer; the client runs the whole request again.
-- @retry 10
-- @expect repeatable-read: stopped 40001 at bob write then holds

-- @fix serializable at serializable
-- The same, one level up.
-- @retry 10
-- @expect serializable: stopped 40001 at bob write then holds
