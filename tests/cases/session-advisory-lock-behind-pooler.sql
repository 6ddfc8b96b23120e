-- @title Both workers got the lock, because they shared a connection
-- Formal name: a session advisory lock behind a transaction-pooling proxy.
--
-- One mail a day goes out, and a session advisory lock keeps it to one worker. Between the workers and the server
-- stands a pooler that sends each statement over any connection that is free. Here both workers are served by the same
-- one. A session may take its own lock as often as it likes, so both get it, both see that no mail was sent today, and
-- both send.

-- @requires database
-- @pool shared

-- @schema
CREATE TABLE mails (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, day int NOT NULL);

-- @transaction send autocommit
\connect shared
\step lock
SELECT pg_try_advisory_lock(1000) AS got \gset
\if NOT :got
  \reject somebody else is sending
\endif
\step look
SELECT count(*) AS sent FROM mails WHERE day = 1 \gset
\if :sent = 0
  \step send
  INSERT INTO mails (day) VALUES (1);
\endif
\step unlock
SELECT pg_advisory_unlock(1000);

-- @session a: send
-- @session b: send
-- @order a look, b look, a send, a unlock, b send, b unlock

-- @check one mail a day
SELECT count(*) <= 1 FROM mails WHERE day = 1;

-- @measure mails
SELECT count(*) FROM mails WHERE day = 1;

-- @expect all: happens

-- @fix transaction-lock
-- A lock of the transaction, and everything in one transaction, which the pooler keeps on one connection.
-- @transaction send
\step lock
SELECT pg_try_advisory_xact_lock(1000) AS got \gset
\if NOT :got
  \reject somebody else is sending
\endif
\step look
SELECT count(*) AS sent FROM mails WHERE day = 1 \gset
\if :sent = 0
  \step send
  INSERT INTO mails (day) VALUES (1);
\endif
-- @order a look, b lock, a send, a commit
-- @expect all: prevented
