-- @title Two nodes flush their queues and stop each other
-- Formal name: deadlock (lock order of upserts).
--
-- Every node counts errors for each pipeline and flushes the counts at the same tick, one upsert a pipeline in one
-- transaction, in the order in which they came. Two nodes have the same pipelines in another order: each holds a row
-- that the other needs next.

-- @schema
CREATE TABLE errors (pipeline text PRIMARY KEY, hits int NOT NULL);

-- @setup
INSERT INTO errors VALUES ('x', 0), ('y', 0), ('z', 0);

-- @transaction flush(pipelines)
\set i 1
\while :i <= cardinality(:pipelines)
  \step upsert
  INSERT INTO errors VALUES ((:pipelines)[:i], 1) ON CONFLICT (pipeline) DO UPDATE SET hits = errors.hits + 1;
  \set i :i + 1
\endwhile

-- @session a: flush(ARRAY['x', 'y', 'z'])
-- @session b: flush(ARRAY['z', 'x'])
-- @order a upsert, a upsert, b upsert, a upsert, b upsert, a commit, b commit

-- @check nobody is sent away with a deadlock
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up') AND sqlstate = '40P01');

-- @check the hits of whoever got through are counted
SELECT sum(hits) = 3 * committed('a')::int + 2 * committed('b')::int FROM errors;

-- @measure hits
SELECT sum(hits) FROM errors;

-- @expect all: happens 40P01

-- @fix sort-the-keys
-- Every node flushes in alphabetical order, so the second one waits at its first row and holds nothing.
-- @retry 10
-- @transaction flush(pipelines)
\set sorted ARRAY(SELECT pipeline FROM unnest(:pipelines) AS pipeline ORDER BY pipeline)
\set i 1
\while :i <= cardinality(:sorted)
  \step upsert
  INSERT INTO errors VALUES ((:sorted)[:i], 1) ON CONFLICT (pipeline) DO UPDATE SET hits = errors.hits + 1;
  \set i :i + 1
\endwhile
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b upsert then holds

-- @fix retry
-- The deadlock stays; the node whose transaction was ended flushes again.
-- @retry 10
-- @expect all: stopped 40P01 then holds
