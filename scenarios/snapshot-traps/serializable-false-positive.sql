-- @title SERIALIZABLE refuses two approvals that have nothing to do with each other
-- Formal name: SSI false positive (a SIREAD lock on the whole table).
--
-- Alice approves for Design, Bob for Sales, and each reads and writes the row of that one team. The table is tiny, so
-- PostgreSQL finds the row by reading all of it, and notes that each has read what the other writes. Bob is refused
-- with 40001. Nothing was wrong, and his retry succeeds: SERIALIZABLE is of use only together with a retry.

-- @schema ../../schema.sql

-- @setup
INSERT INTO teams (id, name, budget) VALUES ('design', 'Design', 5000), ('sales', 'Sales', 5000);
ANALYZE teams;

-- @transaction approve(team, amount)
\step check
SELECT spent, budget FROM teams WHERE id = :team \gset
\if :spent + :amount > :budget
  \reject over budget
\endif
\step update
UPDATE teams SET spent = :spent + :amount WHERE id = :team;

-- @session alice: approve('design', 3000)
-- @session bob:   approve('sales', 3000)
-- @order alice check, bob check, alice update, bob update, alice commit, bob commit

-- @check nobody is refused for somebody else's team
SELECT NOT raised('40001');

-- @measure total in $
SELECT sum(spent) FROM teams WHERE id IN ('design', 'sales');

-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: happens 40001 at bob commit

-- @fix retry
-- What the level asks for anyway: the client runs the whole request again, and nobody is sent away for good.
-- @retry 10
-- @check nobody is refused for somebody else's team
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix index-scan
-- Each finds its row through the index, and only that row and the index page count as read. Changing the plan by hand
-- shows the cause; as a cure it has to be repeated in every transaction.
-- Catalogue: index scan (enable_seqscan=off)
-- @transaction approve(team, amount)
SET LOCAL enable_seqscan = off;
\step check
SELECT spent, budget FROM teams WHERE id = :team \gset
\if :spent + :amount > :budget
  \reject over budget
\endif
\step update
UPDATE teams SET spent = :spent + :amount WHERE id = :team;
-- @expect all: prevented

-- @fix many-rows
-- With 5,000 teams the planner takes the index by itself, and that is not enough: on a full table page the UPDATE has
-- to insert into the index as well, and the page of the index that it writes is the one that the other has read.
-- Catalogue: 5000 rows, index scan, but full heap page so no HOT update (same leaf page: still refused)
-- @setup
INSERT INTO teams (id, name, budget) SELECT 'team-' || n, 'Team', 5000 FROM generate_series(1, 5000) n;
ANALYZE teams;
-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: happens 40001

-- @fix room-on-the-page
-- Pages that are half empty leave room for the new version of a row, and such an UPDATE does not touch the index.
-- Catalogue: 5000 rows, index scan, fillfactor 50 so HOT updates
-- @schema
ALTER TABLE teams SET (fillfactor = 50);
-- @setup
INSERT INTO teams (id, name, budget) SELECT 'team-' || n, 'Team', 5000 FROM generate_series(1, 5000) n;
ANALYZE teams;
-- @expect all: prevented

-- @fix far-apart
-- Bob's team stands on another page of the index, so the two no longer meet. Nobody can choose that.
-- Catalogue: 5000 rows, index scan, the two rows on different leaf pages
-- @setup
INSERT INTO teams (id, name, budget) SELECT 'team-' || n, 'Team', 5000 FROM generate_series(1, 5000) n;
ANALYZE teams;
-- @session bob: approve('team-4000', 3000)
-- @expect all: prevented

-- @fix never-analysed
-- Nobody has counted the rows of this copy, so the planner takes it for a larger table and uses the index. It lasts
-- until autovacuum comes round.
-- Catalogue: never analysed (planner assumes 10 pages, so index)
-- @schema
CREATE TABLE new_teams (LIKE teams INCLUDING ALL);
-- @setup
INSERT INTO new_teams SELECT * FROM teams;
-- @transaction approve(team, amount)
\step check
SELECT spent, budget FROM new_teams WHERE id = :team \gset
\if :spent + :amount > :budget
  \reject over budget
\endif
\step update
UPDATE new_teams SET spent = :spent + :amount WHERE id = :team;
-- @measure total in $
SELECT sum(spent) FROM new_teams;
-- @expect all: prevented
