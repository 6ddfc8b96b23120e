-- @title The program asked for SERIALIZABLE and never got it
-- Formal name: P4 lost update at READ COMMITTED, under the impression of SERIALIZABLE.
--
-- The program sends SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, and then BEGIN. Outside a transaction the SET has no
-- effect; the server says so in a warning, which nobody reads. The visits are counted at the connection's default,
-- READ COMMITTED, and one of two is lost. The sessions here have that default whatever level is under test.

-- @schema
CREATE TABLE tallies (name text PRIMARY KEY, n int NOT NULL);

-- @setup
INSERT INTO tallies VALUES ('visits', 0);

-- @transaction visit
\step set
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
BEGIN;
\step read
SELECT n FROM tallies WHERE name = 'visits' \gset
\step write
UPDATE tallies SET n = :n + 1 WHERE name = 'visits';
COMMIT;

-- @session alice at read-committed: visit
-- @session bob at read-committed:   visit
-- @order alice read, bob read, alice write, alice commit, bob write, bob commit

-- @check every visit that was reported as done is counted
SELECT n = (SELECT count(*) FROM isolab_told WHERE told = 'ok') FROM tallies;

-- @measure visits
SELECT n FROM tallies;

-- @expect all: happens

-- @variant commit-tag-unread
-- The level is right now, and an error of the UPDATE is caught and ignored. COMMIT then answers ROLLBACK, which is no
-- error either, and the client takes it for success.
-- @transaction visit
BEGIN ISOLATION LEVEL SERIALIZABLE;
\step read
SELECT n FROM tallies WHERE name = 'visits' \gset
\step write
\try
  UPDATE tallies SET n = :n + 1 WHERE name = 'visits';
\on 40001
  \echo the error is caught and ignored
\endtry
COMMIT;
-- @expect all: happens

-- @fix begin-isolation-level
-- BEGIN names the level, and the client retries.
-- @retry 10
-- @transaction visit
BEGIN ISOLATION LEVEL SERIALIZABLE;
\step read
SELECT n FROM tallies WHERE name = 'visits' \gset
\step write
UPDATE tallies SET n = :n + 1 WHERE name = 'visits';
COMMIT;
-- @expect all: stopped 40001 at bob write then holds

-- @fix read-the-commit-tag
-- For the variant: the client looks at the answer to COMMIT, and does not report a rollback as done.
-- @transaction visit
BEGIN ISOLATION LEVEL SERIALIZABLE;
\step read
SELECT n FROM tallies WHERE name = 'visits' \gset
\step write
\try
  UPDATE tallies SET n = :n + 1 WHERE name = 'visits';
\on 40001
  \echo the error is caught and ignored
\endtry
COMMIT;
\if :COMMAND_TAG = 'ROLLBACK'
  \reject COMMIT answered ROLLBACK
\endif
-- @expect all: prevented
