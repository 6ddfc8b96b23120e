-- @title UPDATE, and INSERT if there was no row
-- Formal name: an upsert by hand, and its race.
--
-- A request counts a page view by UPDATE, and inserts the row when the UPDATE found none. It is the first view of the
-- page, and there are two of them at once. Both updates find no row, both insert, and the second visitor gets a unique
-- violation.

-- @schema
CREATE TABLE views (page text PRIMARY KEY, n int NOT NULL);

-- @transaction view
\step update
UPDATE views SET n = n + 1 WHERE page = 'home';
\if :ROW_COUNT = 0
  \step insert
  INSERT INTO views VALUES ('home', 1);
\endif

-- @session alice: view
-- @session bob:   view
-- @order alice update, bob update, alice insert, bob insert, alice commit, bob commit

-- @check nobody is sent away with a unique violation
SELECT NOT raised('23505');

-- @check every view that got through is counted
SELECT sum(n) = committed('alice')::int + committed('bob')::int FROM views;

-- @measure views
SELECT sum(n) FROM views;

-- @expect read-committed, repeatable-read: happens 23505 at bob insert
-- @expect serializable: stopped 40001 at bob insert

-- @fix upsert
-- One statement that does either. From REPEATABLE READ on it may raise 40001, so it comes with a retry.
-- Catalogue: INSERT ... ON CONFLICT DO UPDATE (+ retry)
-- @retry 10
-- @transaction view
\step count
INSERT INTO views VALUES ('home', 1) ON CONFLICT (page) DO UPDATE SET n = views.n + 1;
-- @order alice count, bob count, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob count then holds

-- @fix retry-23505
-- The second attempt finds the row and updates it. SERIALIZABLE reports the same race as 40001.
-- Catalogue: retry on 23505 as well
-- @retry 10 also 23505
-- @check nobody is sent away with a unique violation
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect read-committed, repeatable-read: stopped 23505 at bob insert then holds
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix advisory-lock
-- One after the other by a lock: at READ COMMITTED the UPDATE then sees the new row. At REPEATABLE READ the snapshot
-- is from before the wait, the UPDATE finds nothing, and the unique violation is back.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction view
\step lock
SELECT pg_advisory_xact_lock(1);
\step update
UPDATE views SET n = n + 1 WHERE page = 'home';
\if :ROW_COUNT = 0
  \step insert
  INSERT INTO views VALUES ('home', 1);
\endif
-- @order alice lock, alice update, bob lock, alice insert, alice commit, bob insert, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens 23505 at bob insert
-- @expect serializable: stopped 40001 at bob insert then holds
