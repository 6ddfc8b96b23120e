-- @title A DELETE misses a row that matched before and after
-- Formal name: PMP for write predicates, EvalPlanQual.
--
-- A clean-up deletes the pages with exactly 10 hits while a counter adds one hit to every page. One page has 9 hits and
-- one has 10, so at every moment one of the two matches, and yet nothing is deleted. The DELETE found the page with 10,
-- waited for the counter, looked again, saw 11 and let it go; and it never looked at the other page again.

-- @schema
CREATE TABLE pages (id int PRIMARY KEY, hits int NOT NULL);

-- @setup
INSERT INTO pages (id, hits) VALUES (1, 9), (2, 10);

-- @session counter
\step count
UPDATE pages SET hits = hits + 1;

-- @session cleanup
\step delete
DELETE FROM pages WHERE hits = 10;
\echo pages deleted: :ROW_COUNT

-- @order counter count, cleanup delete, counter commit, cleanup commit

-- @check the clean-up deletes one page
SELECT NOT committed('cleanup') OR count(*) = 1 FROM pages;

-- @measure pages_left
SELECT count(*) FROM pages;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at cleanup delete

-- @fix lock-table
-- LOCK TABLE waits before the DELETE takes its snapshot, so it holds at every level. All writers of the table wait.
-- Catalogue: LOCK TABLE first
-- @session cleanup
\step lock
LOCK TABLE pages IN SHARE ROW EXCLUSIVE MODE;
\step delete
DELETE FROM pages WHERE hits = 10;
-- @order counter count, cleanup lock, cleanup delete, counter commit, cleanup commit
-- @expect all: waits

-- @fix lock-rows
-- Lock the rows in one statement, delete in the next: at READ COMMITTED the second has a new snapshot. From REPEATABLE
-- READ on it has not, and the lock itself is refused.
-- Catalogue: lock the rows, then delete in a second statement
-- @retry 10
-- @session cleanup
\step lock
SELECT id FROM pages FOR UPDATE;
\step delete
DELETE FROM pages WHERE hits = 10;
-- @order counter count, cleanup lock, cleanup delete, counter commit, cleanup commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at cleanup lock then holds
