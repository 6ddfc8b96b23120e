-- @title A worker that was given up for dead writes its result over that of its successor
-- Formal name: a lease without fencing.
--
-- A worker claims a job for ten minutes, and stalls for eleven. The lease is over, a second worker takes the job and
-- finishes it. Then the first one goes on where it stood and writes its own result, by the job's id alone. That the
-- work was done twice could not be helped; that the result of the one who no longer held the job stands there could.

-- @schema
CREATE TABLE clock (minute int NOT NULL);
CREATE TABLE jobs (
  id          int  PRIMARY KEY,
  done        bool NOT NULL DEFAULT false,
  owner       text,
  attempt     int  NOT NULL DEFAULT 0,
  lease_until int,
  result      text
);
CREATE TABLE work_log (worker text NOT NULL);

-- @setup
INSERT INTO clock VALUES (100);
INSERT INTO jobs (id) VALUES (1);

-- @transaction work(me)
BEGIN;
\step claim
SELECT minute AS now FROM clock \gset
UPDATE jobs SET owner = :me, attempt = attempt + 1, lease_until = :now + 10
 WHERE id = 1 AND NOT done AND (owner IS NULL OR lease_until < :now) RETURNING attempt \gset
\if :attempt IS NULL
  \rollback nothing to do
\endif
\step claimed
COMMIT;
\step work
\effect INSERT INTO work_log VALUES (:me)
BEGIN;
\step finish
UPDATE jobs SET done = true, result = :me WHERE id = 1;
COMMIT;

-- @session a: work('a')
-- @session b: work('b')
-- @session time
\step pass
UPDATE clock SET minute = minute + 11;
-- @order a work, time commit, b finish, b commit, a finish, a commit

-- @check the result is that of the worker who holds the job
SELECT result IS NULL OR result = owner FROM jobs;

-- @measure worked
SELECT count(*) FROM work_log;

-- @expect all: happens

-- @fix fencing
-- Each claim has a number, and whoever writes the result says with which claim; the claim of before matches no row.
-- @transaction work(me)
BEGIN;
\step claim
SELECT minute AS now FROM clock \gset
UPDATE jobs SET owner = :me, attempt = attempt + 1, lease_until = :now + 10
 WHERE id = 1 AND NOT done AND (owner IS NULL OR lease_until < :now) RETURNING attempt \gset
\if :attempt IS NULL
  \rollback nothing to do
\endif
\step claimed
COMMIT;
\step work
\effect INSERT INTO work_log VALUES (:me)
BEGIN;
\step finish
UPDATE jobs SET done = true, result = :me WHERE id = 1 AND attempt = :attempt;
\if :ROW_COUNT = 0
  \rollback the lease is lost
\endif
COMMIT;
-- @expect all: prevented
