-- @title The upsert that never failed fails at REPEATABLE READ
-- Formal name: 40001 from ON CONFLICT DO UPDATE.
--
-- Page views are counted by INSERT ... ON CONFLICT DO UPDATE, one statement without any read before it. At READ
-- COMMITTED two views at once are both counted. After the move to REPEATABLE READ the second one fails with 40001: the
-- row that it would have to change is younger than its snapshot.

-- @schema
CREATE TABLE views (page text PRIMARY KEY, n int NOT NULL);

-- @transaction view
\step count
INSERT INTO views VALUES ('home', 1) ON CONFLICT (page) DO UPDATE SET n = views.n + 1;

-- @session alice: view
-- @session bob:   view
-- @order alice count, bob count, alice commit, bob commit

-- @check nobody is sent away with a serialization failure
SELECT NOT raised('40001');

-- @check every view that got through is counted
SELECT sum(n) = committed('alice')::int + committed('bob')::int FROM views;

-- @measure views
SELECT sum(n) FROM views;

-- @expect read-committed: waits
-- @expect repeatable-read, serializable: happens 40001 at bob count

-- @fix retry
-- From REPEATABLE READ on every write needs the retry loop, an upsert as well.
-- Catalogue: retry (both increments stored)
-- @retry 10
-- @check nobody is sent away with a serialization failure
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob count then holds
