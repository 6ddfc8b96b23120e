-- @title Overspend: many approvals at once go over the budget
-- The write skew under load. Each request adds up what was approved so far, sees that its amount still fits, and
-- inserts its expense. Staged, Alice and Bob have $500 and approve $300 each. Under load 16 workers send 400 approvals
-- of $108,488 in all against a budget of $50,000, and the table shows which strategies stay within it.

-- @schema ../schema.sql

-- @param budget = 500

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', :budget);

-- @transaction approve(who, amount)
\step check
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
SELECT budget FROM teams WHERE id = 'design' \gset team_
\if :approved + :amount > :team_budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);

-- @session alice: approve('alice', 300)
-- @session bob:   approve('bob', 300)
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @load approve(:worker, :amount) by 16 workers, 400 requests, from overspend-amounts.csv, set budget = 50000, as naive-rc

-- @check the team stays within its budget
SELECT coalesce(sum(amount), 0) <= :budget FROM expenses WHERE team_id = 'design';

-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design';

-- @measure over_budget in $
SELECT greatest(0, coalesce(sum(amount), 0) - :budget) FROM expenses WHERE team_id = 'design';

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @variant naive-rr at repeatable-read
-- One snapshot for both reads does not help: the other's INSERT is in nobody's snapshot, and no row is written twice.
-- @expect repeatable-read: happens

-- @fix serializable at serializable
-- PostgreSQL notices that no one-after-the-other order explains what was read; the client runs the request again.
-- @retry 10
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix for-update
-- The check takes the lock of the team's row first, so that checks come one after the other.
-- @retry 10
-- @transaction approve(who, amount)
\step lock
SELECT budget FROM teams WHERE id = 'design' FOR UPDATE \gset team_
\step check
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :team_budget
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
