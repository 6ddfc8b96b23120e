-- @title The lock is taken, the snapshot is older
-- Formal name: G2 at REPEATABLE READ despite FOR UPDATE.
--
-- The textbook fix, SELECT ... FOR UPDATE on the team's row before the check, moved to REPEATABLE READ. Bob waits for
-- Alice's lock, gets it, and then adds up the expenses in the snapshot that he took before he waited: Alice's $3,000
-- are not in it. FOR UPDATE raises 40001 only when the locked row itself was changed, and Alice changed none.

-- @schema ../../schema.sql

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', 5000);

-- @transaction approve(who, amount)
\step lock
SELECT budget FROM teams WHERE id = 'design' FOR UPDATE \gset
\step check
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\echo :who checks: $:approved approved + $:amount <= $:budget?
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob:   approve('bob', 3000)
-- @order alice lock, bob lock, alice check, alice insert, alice commit, bob check, bob insert, bob commit

-- @check the team stays within its budget
SELECT coalesce(sum(amount), 0) <= 5000 FROM expenses WHERE team_id = 'design';

-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design';

-- @measure over_budget in $
SELECT greatest(0, coalesce(sum(amount), 0) - 5000) FROM expenses WHERE team_id = 'design';

-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert

-- @fix update-the-team
-- Write the row in place of locking it: now the row that Bob waits for has changed, and 40001 says so.
-- Catalogue: UPDATE the parent instead of FOR UPDATE
-- @retry 10
-- @transaction approve(who, amount)
\step lock
UPDATE teams SET version = version + 1 WHERE id = 'design' RETURNING budget \gset
\step check
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \rollback over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix lock-table
-- LOCK TABLE as the first statement waits before the snapshot is taken.
-- Catalogue: LOCK TABLE before any query (takes no snapshot)
-- @retry 10
-- @transaction approve(who, amount)
\step lock
LOCK TABLE expenses IN SHARE ROW EXCLUSIVE MODE;
\step check
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @expect all: waits

-- @fix update-before-insert
-- FOR UPDATE as before, and the team's row is written as well.
-- Catalogue: FOR UPDATE and also UPDATE the parent
-- @retry 10
-- @transaction approve(who, amount)
\step lock
SELECT budget FROM teams WHERE id = 'design' FOR UPDATE \gset
\step check
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
UPDATE teams SET version = version + 1 WHERE id = 'design';
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds
