-- @title Two workers run one job: it was chosen before it was locked
-- Formal name: a stale guard (the row is locked and not looked at again).
--
-- A worker looks for a free job, then locks that job's row by its id and writes its own name into it. A second worker
-- has found the same job and waits for the row. When it gets the lock it writes its name as well, without looking
-- whether the job is still free. Both run it.

-- @schema
CREATE TABLE jobs (id int PRIMARY KEY, locked_by text);

-- @setup
INSERT INTO jobs VALUES (1, NULL);

-- @transaction work(me)
\step find
SELECT id FROM jobs WHERE locked_by IS NULL ORDER BY id LIMIT 1 \gset
\if :id IS NULL
  \reject the queue is empty
\endif
BEGIN;
\step lock
SELECT FROM jobs WHERE id = :id FOR UPDATE;
\step claim
UPDATE jobs SET locked_by = :me WHERE id = :id;
COMMIT;

-- @session a: work('a')
-- @session b: work('b')
-- @retry 10
-- @order a find, b find, a lock, a claim, b lock, a commit, b commit

-- @check one worker at most was told to run the job
SELECT count(*) <= 1 FROM isolab_told WHERE told = 'ok';

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at b lock then happens

-- @fix look-again
-- Looks again under the lock, and leaves a job that somebody has taken.
-- @retry 10
-- @transaction work(me)
\step find
SELECT id FROM jobs WHERE locked_by IS NULL ORDER BY id LIMIT 1 \gset
\if :id IS NULL
  \reject the queue is empty
\endif
BEGIN;
\step lock
SELECT locked_by FROM jobs WHERE id = :id FOR UPDATE \gset
\if :locked_by IS NOT NULL
  \rollback somebody else has taken it
\endif
\step claim
UPDATE jobs SET locked_by = :me WHERE id = :id;
COMMIT;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b lock then holds

-- @fix skip-locked
-- Finds, locks and claims in one statement, and passes over what others hold.
-- @transaction work(me)
\step claim
UPDATE jobs SET locked_by = :me
 WHERE id = (SELECT id FROM jobs WHERE locked_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED);
\if :ROW_COUNT = 0
  \rollback the queue is empty
\endif
-- @order a claim, b claim, a commit, b commit
-- @expect all: prevented
