-- @title Two workers, one customer, and the cancellation is done before the order
-- Formal name: queue order (no isolation anomaly).
--
-- A customer orders and then cancels: two jobs in a queue. Worker A takes the first, worker B skips it, since it is
-- locked, and takes the second. B happens to be faster, and the cancellation is carried out before there is an order.
-- Each job ran once, and "B, then A" is a valid order for SERIALIZABLE: no level knows that jobs of one customer
-- belong in a row.

-- @schema
CREATE TABLE jobs (
  id       int  PRIMARY KEY,
  customer int  NOT NULL,
  kind     text NOT NULL,
  done     bool NOT NULL DEFAULT false
);
CREATE TABLE carried_out (seq int GENERATED ALWAYS AS IDENTITY, job_id int NOT NULL);

-- @setup
INSERT INTO jobs VALUES (1, 7, 'order'), (2, 7, 'cancel');

-- @transaction work
\step claim
SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED \gset
\if :id IS NULL
  \reject nothing to do
\endif
\step work
INSERT INTO carried_out (job_id) VALUES (:id);
UPDATE jobs SET done = true WHERE id = :id;

-- @session a: work
-- @session b: work
-- @order a claim, b claim, b work, b commit, a work, a commit

-- @check the jobs of a customer are carried out in their order
SELECT NOT EXISTS (SELECT 1 FROM carried_out x JOIN carried_out y ON x.seq < y.seq AND x.job_id > y.job_id);

-- @expect all: happens

-- @fix without-skip-locked
-- Worker B waits until A has done the first job: in order, and no faster than one worker.
-- Catalogue: FOR UPDATE without SKIP LOCKED (one worker at a time)
-- @retry 10
-- @transaction work
\step claim
SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE \gset
\if :id IS NULL
  \reject nothing to do
\endif
\step work
INSERT INTO carried_out (job_id) VALUES (:id);
UPDATE jobs SET done = true WHERE id = :id;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b claim then holds

-- @fix oldest-of-each-customer
-- Only a customer's oldest open job may be taken. B finds nothing for this customer and could serve another one.
-- Catalogue: take only the oldest open job of each customer
-- @transaction work
\step claim
SELECT id FROM jobs
 WHERE NOT done
   AND NOT EXISTS (SELECT 1 FROM jobs older
                    WHERE older.customer = jobs.customer AND NOT older.done AND older.id < jobs.id)
 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED \gset
\if :id IS NULL
  \reject nothing to do
\endif
\step work
INSERT INTO carried_out (job_id) VALUES (:id);
UPDATE jobs SET done = true WHERE id = :id;
-- @expect all: prevented
