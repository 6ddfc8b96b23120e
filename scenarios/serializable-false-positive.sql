-- @title SERIALIZABLE refuses two approvals that have nothing to do with each other
-- Formal name: SSI false positive (a SIREAD lock on the whole table).
--
-- Alice approves for Design, Bob for Sales. Neither reads what the other writes, but the expense table is small and each
-- sum scans all of it, so PostgreSQL notes that each has read the table that the other writes into. Bob is refused with
-- 40001. Nothing was wrong, and his retry succeeds: SERIALIZABLE is of use only together with a retry.

-- @schema ../schema.sql

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', 5000), ('sales', 'Sales', 5000);

-- @transaction approve(who, team, amount)
\step check
SELECT budget FROM teams WHERE id = :team \gset
SELECT coalesce(sum(amount), 0) AS approved FROM expenses WHERE team_id = :team \gset
\if :approved + :amount > :budget
  \reject over budget
\endif
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES (:team, :amount, :who);

-- @session alice: approve('alice', 'design', 3000)
-- @session bob:   approve('bob', 'sales', 3000)
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @check nobody is refused for somebody else's team
SELECT NOT raised('40001');

-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses;

-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: happens 40001 at bob commit

-- @fix retry
-- What the level asks for anyway: the client runs the whole request again, and nobody is sent away for good.
-- @retry 10
-- @check nobody is refused for somebody else's team
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told = 'gave up');
-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix index
-- With an index on the team and enough rows each sum reads its own page of the index, and no more.
-- @schema
CREATE INDEX ON expenses (team_id);
-- @setup
INSERT INTO teams (id, name, budget) VALUES ('finance', 'Finance', 5000);
INSERT INTO expenses (team_id, amount, approved_by) SELECT 'finance', 1, 'seed' FROM generate_series(1, 5000);
ANALYZE expenses;
-- @measure total in $
SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id <> 'finance';
-- @expect all: prevented
