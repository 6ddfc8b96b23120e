-- @title Two jobs may run at a time, and four do
-- Formal name: G2 predicate write skew (a count), with SKIP LOCKED.
--
-- One statement counts the running jobs and claims as many as there are free places, with SKIP LOCKED. A second worker
-- asks while the first has not committed. It does not see that the places are taken, passes over the jobs that the
-- first one holds, and claims the next two.

-- @schema
CREATE TABLE lanes (id int PRIMARY KEY, places int NOT NULL, claims int NOT NULL DEFAULT 0);
CREATE TABLE jobs (id int PRIMARY KEY, state text NOT NULL DEFAULT 'queued');

-- @setup
INSERT INTO lanes VALUES (1, 2);
INSERT INTO jobs (id) SELECT n FROM generate_series(1, 6) n;

-- @transaction claim
\step claim
UPDATE jobs SET state = 'running'
 WHERE id IN (
   SELECT id FROM jobs WHERE state = 'queued' ORDER BY id
    LIMIT greatest(0, (SELECT places FROM lanes WHERE id = 1) - (SELECT count(*) FROM jobs WHERE state = 'running'))
      FOR UPDATE SKIP LOCKED);

-- @session a: claim
-- @session b: claim
-- @order a claim, b claim, a commit, b commit

-- @check two jobs run at most
SELECT count(*) <= 2 FROM jobs WHERE state = 'running';

-- @measure running
SELECT count(*) FROM jobs WHERE state = 'running';

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at b commit

-- @fix lock-lane
-- Locks the lane first, so that the second worker counts when the first has committed. From REPEATABLE READ on its
-- snapshot is too old, and it gets 40001, here because it comes upon a job that has changed.
-- @retry 10
-- @transaction claim
\step lock
SELECT FROM lanes WHERE id = 1 FOR UPDATE;
\step claim
UPDATE jobs SET state = 'running'
 WHERE id IN (
   SELECT id FROM jobs WHERE state = 'queued' ORDER BY id
    LIMIT greatest(0, (SELECT places FROM lanes WHERE id = 1) - (SELECT count(*) FROM jobs WHERE state = 'running'))
      FOR UPDATE SKIP LOCKED);
-- @order a lock, b lock, a claim, a commit, b claim, b commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b claim then holds

-- @fix write-lane
-- Writes the lane in place of locking it: from REPEATABLE READ on the one who waited gets 40001 for certain.
-- @retry 10
-- @transaction claim
\step lock
UPDATE lanes SET claims = claims + 1 WHERE id = 1;
\step claim
UPDATE jobs SET state = 'running'
 WHERE id IN (
   SELECT id FROM jobs WHERE state = 'queued' ORDER BY id
    LIMIT greatest(0, (SELECT places FROM lanes WHERE id = 1) - (SELECT count(*) FROM jobs WHERE state = 'running'))
      FOR UPDATE SKIP LOCKED);
-- @order a lock, b lock, a claim, a commit, b claim, b commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b lock then holds
