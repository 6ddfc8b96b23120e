-- @title One UPDATE with a subselect of its own row still loses an update
-- Formal name: P4 lost update in one statement, EvalPlanQual with a stale subselect.
--
-- Two visitors open a page, and each request raises its counter in one statement: SET views = (SELECT views ...) + 1.
-- That looks atomic. Bob's UPDATE waits for Alice's, then reads the newest version of the row that it updates, but the
-- subselect keeps the answer from before the wait. Two visits, and the counter says one.

-- @schema
CREATE TABLE pages (id int PRIMARY KEY, views int NOT NULL);

-- @setup
INSERT INTO pages (id, views) VALUES (1, 0);

-- @transaction visit
\step count
UPDATE pages SET views = (SELECT views FROM pages WHERE id = 1) + 1 WHERE id = 1;

-- @session alice: visit
-- @session bob:   visit
-- @order alice count, bob count, alice commit, bob commit

-- @check every visit is counted
SELECT views = committed('alice')::int + committed('bob')::int FROM pages WHERE id = 1;

-- @measure views
SELECT views FROM pages WHERE id = 1;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob count

-- @fix plain-column
-- views + 1 is computed from the row that is being updated, after the wait from its newest version.
-- Catalogue: plain column reference
-- @retry 10
-- @transaction visit
\step count
UPDATE pages SET views = views + 1 WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob count then holds

-- @fix for-update-inside
-- The subselect itself waits for the row's lock and then reads the newest version.
-- Catalogue: FOR UPDATE inside the subselect
-- @retry 10
-- @transaction visit
\step count
UPDATE pages SET views = (SELECT views FROM pages WHERE id = 1 FOR UPDATE) + 1 WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob count then holds
