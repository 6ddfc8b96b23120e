-- @title A job stays "running" for ever because its worker was killed
-- Formal name: a claim without a lease.
--
-- A worker marks a job as running, commits, so that others can see it, and is killed. The claim is data now and no
-- lock, so there is nothing that the database could give back. The job is neither done nor queued, and nobody will
-- take it again.

-- @schema
CREATE TABLE clock (minute int NOT NULL);
CREATE TABLE jobs (id int PRIMARY KEY, state text NOT NULL DEFAULT 'queued', lease_until int);

-- @setup
INSERT INTO clock VALUES (0);
INSERT INTO jobs (id) VALUES (1), (2);

-- @transaction work(dies)
BEGIN;
\step claim
SELECT minute AS now FROM clock \gset
UPDATE jobs SET state = 'running', lease_until = :now + 10
 WHERE id = (SELECT id FROM jobs WHERE state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id \gset
\step claimed
COMMIT;
\if :dies
  \crash
\endif
\if :id IS NULL
  \reject nothing to do
\endif
BEGIN;
\step finish
UPDATE jobs SET state = 'done' WHERE id = :id;
COMMIT;

-- @session killed: work(true)
-- @session other:  work(false)

-- @finally later
UPDATE clock SET minute = minute + 11;

-- @finally drain: work(false); work(false)

-- @check every job is done in the end
SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE state <> 'done');

-- @measure not_done
SELECT count(*) FROM jobs WHERE state <> 'done';

-- @expect all: happens

-- @fix lease
-- A claim runs out after ten minutes, and anybody may take the job again. Whoever finishes it says under which lease,
-- so that one who was only slow does no harm.
-- @transaction work(dies)
BEGIN;
\step claim
SELECT minute AS now FROM clock \gset
UPDATE jobs SET state = 'running', lease_until = :now + 10
 WHERE id = (SELECT id FROM jobs WHERE state = 'queued' OR (state = 'running' AND lease_until < :now)
              ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, lease_until \gset
\step claimed
COMMIT;
\if :dies
  \crash
\endif
\if :id IS NULL
  \reject nothing to do
\endif
BEGIN;
\step finish
UPDATE jobs SET state = 'done' WHERE id = :id AND lease_until = :lease_until;
\if :ROW_COUNT = 0
  \rollback the lease is lost
\endif
COMMIT;
-- @expect all: prevented
