-- @title Write skew: two approvals each pass the check, together they break the budget
-- Formal name: A5B write skew, G2.
--
-- The Design team has $5,000. Alice and Bob each approve an expense of $3,000 in the same second. Each request adds up
-- what was approved so far, sees that $3,000 still fit, and inserts its expense. Neither sees the other's. The team has
-- spent $6,000, no row was overwritten, and no log shows an error.

-- @schema ../schema.sql

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
