-- @title A report that only reads shows a state that never was
-- Formal name: read-only transaction anomaly (Fekete, O'Neil, O'Neil 2004), G2 with three transactions.
--
-- Checking and savings are both empty. Alice withdraws $10 from checking, and there is a $1 fee if the two together go
-- below zero. She has read both balances when Bob deposits $20 into savings and commits. A statement is printed:
-- savings $20, checking $0. Then Alice's withdrawal goes through, with the fee. So it came before the deposit; but the
-- statement shows the deposit without it. Had nobody printed the statement, all would be in order.

-- @schema
CREATE TABLE accounts (name text PRIMARY KEY, balance int NOT NULL);

-- @setup
INSERT INTO accounts (name, balance) VALUES ('checking', 0), ('savings', 0);

-- @session alice
\step check
SELECT sum(balance) AS total FROM accounts \gset
\set fee CASE WHEN :total < 10 THEN 1 ELSE 0 END
\step withdraw
UPDATE accounts SET balance = balance - 10 - :fee WHERE name = 'checking';

-- @session bob
\step look
SELECT balance FROM accounts WHERE name = 'savings' \gset
\step deposit
UPDATE accounts SET balance = :balance + 20 WHERE name = 'savings';

-- @session report
BEGIN READ ONLY;
\step read
SELECT sum(balance) FILTER (WHERE name = 'savings')  AS savings,
       sum(balance) FILTER (WHERE name = 'checking') AS checking
  FROM accounts \gset
\echo savings $:savings, checking $:checking
COMMIT;

-- @order alice check, bob commit, report commit, alice withdraw, alice commit

-- @check no fee after a report that shows the deposit without the withdrawal
SELECT NOT (seen('report', 'read', 'savings')::int = 20
        AND seen('report', 'read', 'checking')::int = 0
        AND balance = -11)
  FROM accounts WHERE name = 'checking';

-- @measure checking in $
SELECT balance FROM accounts WHERE name = 'checking';

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at alice withdraw

-- @fix read-only-deferrable
-- At SERIALIZABLE the report waits for a snapshot that no running transaction can spoil, and nobody is refused. Below
-- it DEFERRABLE does nothing at all: the report is as wrong as before.
-- Catalogue: report as READ ONLY DEFERRABLE (SERIALIZABLE only)
-- @session report
BEGIN READ ONLY DEFERRABLE;
\step read
SELECT sum(balance) FILTER (WHERE name = 'savings')  AS savings,
       sum(balance) FILTER (WHERE name = 'checking') AS checking
  FROM accounts \gset
COMMIT;
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: waits

-- @fix for-update-rows
-- The withdrawal locks both balances that it decides on, so that the deposit waits until it is done.
-- Catalogue: withdrawal locks both rows FOR UPDATE
-- @session alice
\step check
SELECT sum(balance) AS total FROM (SELECT balance FROM accounts ORDER BY name FOR UPDATE) AS locked \gset
\set fee CASE WHEN :total < 10 THEN 1 ELSE 0 END
\step withdraw
UPDATE accounts SET balance = balance - 10 - :fee WHERE name = 'checking';
-- @expect all: waits
