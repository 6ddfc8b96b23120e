-- @title A report shows two counters that no order of the two writers allows
-- Formal name: G2 with a read-only observer (rollover).
--
-- At the end of the day Alice's job adds today's count of 10 to the total of 100, while Bob counts one more visit and
-- commits. A report reads both: the total is still 100, today already 11. Then Alice's job commits 110, made from the
-- 10 before Bob's visit. The total says that the visit came after the job, the report says that it came before.

-- @schema
CREATE TABLE counters (name text PRIMARY KEY, visits int NOT NULL);

-- @setup
INSERT INTO counters (name, visits) VALUES ('total', 100), ('today', 10);

-- @session alice
\step roll-over
UPDATE counters SET visits = visits + (SELECT visits FROM counters WHERE name = 'today') WHERE name = 'total';

-- @session bob
\step count
UPDATE counters SET visits = visits + 1 WHERE name = 'today';

-- @session report
BEGIN READ ONLY;
\step read
SELECT sum(visits) FILTER (WHERE name = 'total') AS total,
       sum(visits) FILTER (WHERE name = 'today') AS today
  FROM counters \gset
\echo total :total, today :today
COMMIT;

-- @order alice roll-over, bob commit, report commit, alice commit

-- @check a visit that was reported before the roll-over is in the total
SELECT NOT (seen('report', 'read', 'total')::int = 100 AND seen('report', 'read', 'today')::int = 11 AND visits = 110)
  FROM counters WHERE name = 'total';

-- @measure total
SELECT visits FROM counters WHERE name = 'total';

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at alice commit

-- @fix for-share
-- The job locks the count that it adds, so Bob's visit waits until the job is done, at every level.
-- Catalogue: FOR SHARE on the row read
-- @session alice
\step roll-over
UPDATE counters SET visits = visits + (SELECT visits FROM counters WHERE name = 'today' FOR SHARE) WHERE name = 'total';
-- @expect all: waits
