-- @title Write skew: two approvals each pass the check, together they break the budget
-- Formal name: A5B write skew, G2.
--
-- The Design team has $5,000. Alice and Bob each approve an expense of $3,000 in the same second. Each request adds up
-- what was approved so far, sees that $3,000 still fit, and inserts its expense. Neither sees the other's. The team has
-- spent $6,000, no row was overwritten, and no log shows an error.

-- @schema ../../schema.sql

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', 5000);

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\echo :who checks: $:approved approved + $:amount <= $:budget?
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob:   approve('bob', 3000)
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @check the team stays within its budget
SELECT coalesce(sum(amount), 0) <= (SELECT budget FROM teams WHERE id = 'design')
  FROM expenses WHERE team_id = 'design';

-- @measure expenses
SELECT count(*) FROM expenses WHERE team_id = 'design';

-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design';

-- @measure over_budget in $
SELECT greatest(0, coalesce(sum(amount), 0) - (SELECT budget FROM teams WHERE id = 'design'))
  FROM expenses WHERE team_id = 'design';

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix serializable at serializable
-- PostgreSQL notices that no one-after-the-other order explains both; the client runs the whole request again.
-- @retry 10
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix for-update
-- The check takes the lock of the team's row first, so that checks come one after the other. At REPEATABLE READ the
-- snapshot is older than the wait, and the lock does not help.
-- Catalogue: FOR UPDATE on the parent row
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
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @order alice check, bob lock, bob check, alice insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix conditional
-- The rule stands in the WHERE of one UPDATE of one row; a waiter looks again at the row's newest version.
-- @retry 10
-- @transaction approve(who, amount)
\step reserve
UPDATE teams SET spent = spent + :amount WHERE id = 'design' AND spent + :amount <= budget;
\if :ROW_COUNT = 0
  \rollback over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @order alice reserve, bob reserve, alice insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob reserve then holds

-- @fix update-parent
-- Write the team's row in place of locking it. Now the row that Bob waits for has changed, and from REPEATABLE READ on
-- 40001 says so: this holds where FOR UPDATE does not.
-- Catalogue: UPDATE the parent row (materialise the conflict)
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
-- @order alice check, bob lock, bob check, alice insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix advisory-lock
-- A lock on a number that stands for the team. It fails at REPEATABLE READ like FOR UPDATE: the statement that waits
-- for the lock has taken the snapshot already.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction approve(who, amount)
\step lock
SELECT pg_advisory_xact_lock(1);
\step check
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @order alice check, bob lock, bob check, alice insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix check-in-where
-- Does not help: the check has moved into the INSERT, but it still reads what is committed when the statement begins.
-- Only SERIALIZABLE refuses it.
-- Catalogue: conditional UPDATE with a subselect count (does not help)
-- @retry 10
-- @transaction approve(who, amount)
\step insert
INSERT INTO expenses (team_id, amount, approved_by)
  SELECT id, :amount, :who FROM teams
   WHERE id = 'design'
     AND budget >= :amount + (SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design');
\if :ROW_COUNT = 0
  \rollback over budget
\endif
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix for-update-rows
-- Where the expenses are filed first and approved later, there are rows to lock: those that the check reads. This holds
-- from REPEATABLE READ on as well, since the approval changes a row that the other one waits for. With expenses that
-- are inserted at approval, as above, it would lock nothing.
-- Catalogue: FOR UPDATE on the rows read
-- @retry 10
-- @setup
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', 3000, 'nobody'), ('design', 3000, 'nobody');
-- @transaction approve(who, expense)
\step check
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount) FILTER (WHERE approved_by <> 'nobody' OR id = :expense), 0) AS total
  FROM (SELECT id, amount, approved_by FROM expenses WHERE team_id = 'design' ORDER BY id FOR UPDATE) AS locked \gset
\if :total > :budget
  \reject over budget
\endif
\step approve
UPDATE expenses SET approved_by = :who WHERE id = :expense;
-- @session alice: approve('alice', 1)
-- @session bob:   approve('bob', 2)
-- @order alice check, bob check, alice approve, bob approve, alice commit, bob commit
-- @check the team stays within its budget
SELECT coalesce(sum(amount), 0) <= (SELECT budget FROM teams WHERE id = 'design')
  FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @measure expenses
SELECT count(*) FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @measure over_budget in $
SELECT greatest(0, coalesce(sum(amount), 0) - (SELECT budget FROM teams WHERE id = 'design'))
  FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob check then holds

-- @fix for-share-rows
-- A trap: both get the shared locks, each waits for the other before it can approve, and one dies of a deadlock, at
-- every level. It holds only because the client retries after 40P01.
-- Catalogue: FOR SHARE on the rows read (deadlocks, needs retry)
-- @retry 10
-- @setup
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', 3000, 'nobody'), ('design', 3000, 'nobody');
-- @transaction approve(who, expense)
\step check
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount) FILTER (WHERE approved_by <> 'nobody' OR id = :expense), 0) AS total
  FROM (SELECT id, amount, approved_by FROM expenses WHERE team_id = 'design' ORDER BY id FOR SHARE) AS locked \gset
\if :total > :budget
  \reject over budget
\endif
\step approve
UPDATE expenses SET approved_by = :who WHERE id = :expense;
-- @session alice: approve('alice', 1)
-- @session bob:   approve('bob', 2)
-- @order alice check, bob check, alice approve, bob approve, alice commit, bob commit
-- @check the team stays within its budget
SELECT coalesce(sum(amount), 0) <= (SELECT budget FROM teams WHERE id = 'design')
  FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @measure expenses
SELECT count(*) FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @measure over_budget in $
SELECT greatest(0, coalesce(sum(amount), 0) - (SELECT budget FROM teams WHERE id = 'design'))
  FROM expenses WHERE team_id = 'design' AND approved_by <> 'nobody';
-- @expect all: stopped 40P01 then holds
