-- @title Read skew: a report of two numbers that were never true together
-- Formal name: A5A read skew, G-single.
--
-- A report reads the team's running total and then adds up the expenses. Between the two reads Carol approves $250: she
-- adds the expense and raises the total, in one transaction. The report shows the total from before and the expenses
-- from after, so the books seem to be $250 out. Nothing in the data is wrong.

-- @schema ../../schema.sql

-- @setup
INSERT INTO teams (id, name, budget, spent) VALUES ('design', 'Design', 5000, 1000);
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', 600, 'alice'), ('design', 400, 'bob');

-- @transaction report
\step total
SELECT spent FROM teams WHERE id = 'design' \gset
\step sum
SELECT coalesce(sum(amount), 0) AS total FROM expenses WHERE team_id = 'design' \gset
\echo the total says $:spent, the expenses add up to $:total

-- @transaction approve
\step insert
INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', 250, 'carol');
\step update
UPDATE teams SET spent = spent + 250 WHERE id = 'design';

-- @session report: report
-- @session carol: approve
-- @order report total, carol commit, report sum, report commit

-- @check the report's two numbers agree
SELECT seen('report', 'total', 'spent')::int = seen('report', 'sum', 'total')::int;

-- @measure spent in $
SELECT seen('report', 'total', 'spent')::int;

-- @measure total in $
SELECT seen('report', 'sum', 'total')::int;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented

-- @fix repeatable-read at repeatable-read
-- All reads of the transaction see the moment of the first one.
-- @expect repeatable-read: prevented

-- @fix read-only-deferrable at serializable
-- For a long report: it waits for a snapshot that no running transaction can spoil, and is never refused afterwards.
-- @session report
BEGIN READ ONLY DEFERRABLE;
\step total
SELECT spent FROM teams WHERE id = 'design' \gset
\step sum
SELECT coalesce(sum(amount), 0) AS total FROM expenses WHERE team_id = 'design' \gset
COMMIT;
-- @expect serializable: prevented

-- @fix one-statement
-- One statement sees one moment, at every level.
-- Catalogue: one statement for both reads
-- @transaction report
\step sum
SELECT spent, (SELECT coalesce(sum(amount), 0) FROM expenses WHERE team_id = 'design') AS total
  FROM teams WHERE id = 'design' \gset
-- @order carol insert, report sum, carol commit, report commit
-- @check the report's two numbers agree
SELECT seen('report', 'sum', 'spent')::int = seen('report', 'sum', 'total')::int;
-- @measure spent in $
SELECT seen('report', 'sum', 'spent')::int;
-- @expect all: prevented

-- @fix for-share
-- Every read locks what it reads. The lock on the team's row keeps each writer of the total out until the report is
-- done.
-- Catalogue: FOR SHARE on each row as it is read
-- @transaction report
\step total
SELECT spent FROM teams WHERE id = 'design' FOR SHARE \gset
\step sum
SELECT coalesce(sum(amount), 0) AS total
  FROM (SELECT amount FROM expenses WHERE team_id = 'design' FOR SHARE) AS locked \gset
-- @expect all: waits

-- @fix for-share-first
-- All locks are taken before anything is read, so the order of the reads no longer matters. It locks no row that does
-- not exist yet: an expense is kept out only because its writer has to change the team's row as well.
-- Catalogue: FOR SHARE on both rows first
-- @transaction report
\step lock
SELECT id FROM teams WHERE id = 'design' FOR SHARE;
SELECT id FROM expenses WHERE team_id = 'design' ORDER BY id FOR SHARE;
\step total
SELECT spent FROM teams WHERE id = 'design' \gset
\step sum
SELECT coalesce(sum(amount), 0) AS total FROM expenses WHERE team_id = 'design' \gset
-- @order report lock, report total, carol commit, report sum, report commit
-- @expect all: waits
