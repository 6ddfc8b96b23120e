-- @title The lock was free because the work was done
-- Formal name: a stale guard (an advisory lock that is taken after the look).
--
-- A worker finds a job, then takes an advisory lock on the job's id, sends the mail, and deletes the job. Between the
-- look and the lock of a second worker the first one did all of that and unlocked. The second gets the lock, and sends
-- the mail again: the lock says who may work, not that there is still work.

-- @requires database

-- @schema
CREATE TABLE jobs (id int PRIMARY KEY);
CREATE TABLE mails (worker text NOT NULL);

-- @setup
INSERT INTO jobs VALUES (1);

-- @transaction run(me) autocommit
\step find
SELECT id FROM jobs WHERE id = 1 \gset
\if :id IS NULL
  \reject no work
\endif
\step lock
SELECT pg_try_advisory_lock(1) AS got \gset
\if NOT :got
  \reject somebody else is at it
\endif
\step send
\effect INSERT INTO mails VALUES (:me)
\step delete
DELETE FROM jobs WHERE id = 1;
\step unlock
SELECT pg_advisory_unlock(1);

-- @session a: run('a')
-- @session b: run('b')
-- @order a find, b find, a unlock, b unlock

-- @check the mail is sent once
SELECT count(*) <= 1 FROM mails;

-- @measure mails
SELECT count(*) FROM mails;

-- @expect all: happens

-- @fix look-again
-- Looks again under the lock, before the mail is sent.
-- @transaction run(me) autocommit
\step find
SELECT id FROM jobs WHERE id = 1 \gset
\if :id IS NULL
  \reject no work
\endif
\step lock
SELECT pg_try_advisory_lock(1) AS got \gset
\if NOT :got
  \reject somebody else is at it
\endif
\step again
SELECT id FROM jobs WHERE id = 1 \gset
\if :id IS NOT NULL
  \step send
  \effect INSERT INTO mails VALUES (:me)
  \step delete
  DELETE FROM jobs WHERE id = 1;
\endif
\step unlock
SELECT pg_advisory_unlock(1);
-- @expect all: prevented
