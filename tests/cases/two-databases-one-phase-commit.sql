-- @title Ten dollars vanish between two databases
-- Formal name: no atomic commit across two databases.
--
-- A transfer takes $10 in one database and adds them in another, with one transaction in each. The program commits the
-- first, and dies before it commits the second. One half is done, the other is rolled back.

-- @requires max_prepared_transactions > 0
-- @database other

-- @schema
CREATE TABLE wallets (balance int NOT NULL, seen int NOT NULL);
CREATE TABLE commit_records (gid text PRIMARY KEY);
\connect other
CREATE TABLE wallets (balance int NOT NULL);

-- @setup
INSERT INTO wallets VALUES (100, 0);
\connect other
INSERT INTO wallets VALUES (100);

-- @session transfer
BEGIN;
\step debit
UPDATE wallets SET balance = balance - 10;
\connect other
BEGIN;
\step credit
UPDATE wallets SET balance = balance + 10;
\connect main
\step commit-here
COMMIT;
\crash

-- @session reader
\step look
UPDATE wallets SET seen = seen + 1;

-- @check the two wallets hold 200 dollars
\connect other
SELECT balance AS other_balance FROM wallets \gset
\connect main
SELECT balance + :other_balance = 200 FROM wallets;

-- @measure total in $
\connect other
SELECT balance AS other_balance FROM wallets \gset
\connect main
SELECT balance + :other_balance FROM wallets;

-- @expect all: happens

-- @fix commit-record
-- The other database prepares, this one commits together with a record of that, and after a crash a resolver ends what
-- is prepared as the record says. Until then the other wallet stays locked.
-- @session transfer
BEGIN;
\step debit
UPDATE wallets SET balance = balance - 10;
INSERT INTO commit_records VALUES ('transfer-40');
\connect other
BEGIN;
\step credit
UPDATE wallets SET balance = balance + 10;
PREPARE TRANSACTION 'transfer-40';
\connect main
\step commit-here
COMMIT;
\crash
-- @finally resolver autocommit
SELECT count(*) > 0 AS committed FROM commit_records WHERE gid = 'transfer-40' \gset
\connect other
\if :committed
  COMMIT PREPARED 'transfer-40';
\else
  ROLLBACK PREPARED 'transfer-40';
\endif
-- @expect all: prevented

-- @fix commit-record-crash-before
-- The same when the program dies before its COMMIT: there is no record, and the resolver rolls back.
-- @session transfer
BEGIN;
\step debit
UPDATE wallets SET balance = balance - 10;
INSERT INTO commit_records VALUES ('transfer-40');
\connect other
BEGIN;
\step credit
UPDATE wallets SET balance = balance + 10;
PREPARE TRANSACTION 'transfer-40';
\crash
-- @finally resolver autocommit
SELECT count(*) > 0 AS committed FROM commit_records WHERE gid = 'transfer-40' \gset
\connect other
\if :committed
  COMMIT PREPARED 'transfer-40';
\else
  ROLLBACK PREPARED 'transfer-40';
\endif
-- @expect all: prevented
