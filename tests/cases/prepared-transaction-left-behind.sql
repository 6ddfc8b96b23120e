-- @title A prepared transaction that nobody ends keeps its locks
-- Formal name: in doubt (two-phase commit).
--
-- A program prepares a transaction and dies before it says COMMIT or ROLLBACK. The prepared transaction survives it:
-- it keeps its row locks and holds back vacuum, until somebody ends it by name. Whoever writes that row waits, and
-- gives up with 55P03.

-- @requires max_prepared_transactions > 0
-- @requires database

-- @schema
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);

-- @setup
INSERT INTO accounts VALUES (1, 100);

-- @session program
BEGIN;
\step debit
UPDATE accounts SET balance = balance - 10 WHERE id = 1;
PREPARE TRANSACTION 'transfer-1';
\crash

-- @session writer
SET LOCAL lock_timeout = '200ms';
\step credit
UPDATE accounts SET balance = balance + 1 WHERE id = 1;

-- @order program prepare, writer credit, writer commit

-- @check nothing stays prepared
SELECT NOT EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE database = current_database());

-- @check no writer is sent away
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up') AND sqlstate = '55P03');

-- @expect all: happens 55P03 at writer credit

-- @fix resolver
-- A job rolls back what has been prepared for too long (here: at all), and the writer tries again.
-- @retry 10 also 55P03
-- @transaction resolve autocommit
\step look
SELECT gid FROM pg_prepared_xacts WHERE database = current_database() \gset
\if :gid IS NOT NULL
  \step resolve
  ROLLBACK PREPARED :'gid';
\endif
-- @session resolver: resolve
-- @order program prepare, writer credit, wait writer, resolver resolve
-- @finally once-more: resolve
-- @expect all: stopped 55P03 at writer credit then holds
