-- @title The worker looked, then listened, and sleeps through the job in between
-- Formal name: a notification that is lost before LISTEN.
--
-- A worker does what is in its inbox, and then listens for notifications to wake it. A job is committed after the look
-- and before the LISTEN. The look came too early for it, and its notification went out when nobody listened. The
-- worker waits for ever, with a job in the inbox.

-- @requires database

-- @schema
CREATE TABLE inbox (id int PRIMARY KEY, done bool NOT NULL);

-- @session worker autocommit
\step look
UPDATE inbox SET done = true WHERE NOT done;
\step listen
LISTEN jobs;

-- @session producer
\step insert
INSERT INTO inbox VALUES (1, false);
NOTIFY jobs;

-- @order worker look, producer commit, worker listen

-- @finally worker autocommit
-- In the same connection: it looks again only when it was notified.
\if :NOTIFIED > 0
  UPDATE inbox SET done = true WHERE NOT done;
\endif

-- @check no job is left
SELECT NOT EXISTS (SELECT 1 FROM inbox WHERE NOT done);

-- @measure jobs_left
SELECT count(*) FROM inbox WHERE NOT done;

-- @expect all: happens

-- @fix listen-first
-- Listens, and only then looks: whatever is committed later than the look is notified.
-- @session worker autocommit
\step listen
LISTEN jobs;
\step look
UPDATE inbox SET done = true WHERE NOT done;
-- @order worker listen, producer commit, worker look
-- @expect all: prevented
