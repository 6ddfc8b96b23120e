-- @title Two workers claim the same job
-- Formal name: EvalPlanQual: the subselect is not run again.
--
-- A worker claims a job with one UPDATE whose subselect picks the oldest job that is ready. Worker B picks job 1 as
-- well and waits for its row. When worker A has committed, PostgreSQL looks again only at B's condition "id = 1",
-- which still holds; the subselect with "ready" is not run again. B claims a job that is already running, and job 2 is
-- left alone.

-- @schema
CREATE TABLE jobs (
  id     int  PRIMARY KEY,
  state  text NOT NULL DEFAULT 'ready',
  worker text,
  claims int  NOT NULL DEFAULT 0
);

-- @setup
INSERT INTO jobs (id) VALUES (1), (2);

-- @transaction claim(worker)
\step claim
UPDATE jobs SET state = 'running', worker = :worker, claims = claims + 1
 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1);

-- @session a: claim('a')
-- @session b: claim('b')
-- @order a claim, b claim, a commit, b commit

-- @check no job is claimed twice
SELECT max(claims) <= 1 FROM jobs;

-- @measure running
SELECT count(*) FROM jobs WHERE state = 'running';

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at b claim

-- @fix repeat-the-condition
-- The condition on the row itself is looked at again after the wait. B then gets no job at all and has to ask once
-- more.
-- Catalogue: repeat the condition outside (second worker gets 0 rows)
-- @retry 10
-- @transaction claim(worker)
\step claim
UPDATE jobs SET state = 'running', worker = :worker, claims = claims + 1
 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1) AND state = 'ready';
\if :ROW_COUNT = 0
  \rollback no job, ask again
\endif
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b claim then holds

-- @fix for-update
-- The subselect waits for the row, looks at it again, and takes the next one. Workers still stand in line.
-- Catalogue: FOR UPDATE in the subselect
-- @retry 10
-- @transaction claim(worker)
\step claim
UPDATE jobs SET state = 'running', worker = :worker, claims = claims + 1
 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b claim then holds

-- @fix skip-locked
-- Jobs that somebody holds are passed over: nobody waits, each worker gets a job of its own, at every level.
-- Catalogue: FOR UPDATE SKIP LOCKED in the subselect
-- @retry 10
-- @transaction claim(worker)
\step claim
UPDATE jobs SET state = 'running', worker = :worker, claims = claims + 1
 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED);
-- @expect all: prevented
