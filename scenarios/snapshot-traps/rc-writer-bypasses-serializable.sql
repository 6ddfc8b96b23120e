-- @title One READ COMMITTED writer among SERIALIZABLE ones
-- Formal name: G2: SSI tracks only SERIALIZABLE transactions.
--
-- The web application was moved to SERIALIZABLE. Bob still approves from an old tool that begins its transactions at
-- READ COMMITTED. PostgreSQL looks for dangerous patterns among SERIALIZABLE transactions alone, so it does not see
-- his, and the overspend is back.

-- @schema ../../schema.sql

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', 5000);

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob at read-committed: approve('bob', 3000)
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @check the team stays within its budget
SELECT coalesce(sum(amount), 0) <= 5000 FROM expenses WHERE team_id = 'design';

-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design';

-- @measure over_budget in $
SELECT greatest(0, coalesce(sum(amount), 0) - 5000) FROM expenses WHERE team_id = 'design';

-- @expect all: happens

-- @fix same-level
-- Every writer at the level under test. Below SERIALIZABLE that is the write skew again.
-- Catalogue: every writer at the same level
-- @retry 10
-- @session bob: approve('bob', 3000)
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix for-update
-- A lock that both take. It holds here because Bob, who waits, takes a new snapshot for each statement; were Alice the
-- one who waits, her snapshot would be older than the wait.
-- Catalogue: FOR UPDATE by both
-- @retry 10
-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams WHERE id = 'design' FOR UPDATE \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: waits, explored happens

-- @fix lock-table
-- LOCK TABLE before the first query waits before any snapshot is taken, so it holds whoever comes second.
-- @retry 10
-- @transaction approve(who, amount)
\step check
LOCK TABLE expenses IN SHARE ROW EXCLUSIVE MODE;
SELECT budget FROM teams WHERE id = 'design' \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = 'design' \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', :amount, :who);
-- @expect all: waits
