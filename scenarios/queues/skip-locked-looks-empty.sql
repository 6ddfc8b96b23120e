-- @title The batch is reported complete while its last job is still open
-- Formal name: queue visibility (SKIP LOCKED gives an inconsistent view).
--
-- Worker A holds the last job of a batch. Worker B asks for a job, and since SKIP LOCKED passes over what others hold,
-- it gets none. It takes that for an empty queue and reports the batch complete. Then A fails and rolls back, and the
-- job is open again.

-- @schema
CREATE TABLE jobs (id int PRIMARY KEY, done bool NOT NULL DEFAULT false);
CREATE TABLE reports (message text NOT NULL);

-- @setup
INSERT INTO jobs VALUES (1);

-- @session a
\step claim
SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
\rollback the worker failed

-- @session b
\step claim
SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED \gset
\if :id IS NULL
  \step report
  INSERT INTO reports VALUES ('batch complete');
\endif

-- @order a claim, b claim, b report, b commit, a commit

-- @check a batch that is reported complete has no open job
SELECT NOT (EXISTS (SELECT 1 FROM reports) AND EXISTS (SELECT 1 FROM jobs WHERE NOT done));

-- @expect all: happens

-- @fix plain-count
-- SKIP LOCKED answers "is there a job for me"; whether any job is open is a question for a SELECT that skips nothing.
-- Catalogue: decide completeness with a plain count
-- @session b
\step claim
SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
SELECT count(*) AS open FROM jobs WHERE NOT done \gset
\if :open = 0
  \step report
  INSERT INTO reports VALUES ('batch complete');
\endif
-- @expect all: prevented
