-- @title Overdraft protection: two withdrawals drain two accounts at once
-- Formal name: A5B write skew, G2-item (overdraft protection).
--
-- Carol's bank lets one of her accounts go below zero as long as checking and savings together do not. Each holds $500.
-- Alice withdraws $900 from savings, Bob $900 from checking, both for Carol. Each request adds up both accounts, sees
-- $1,000, and takes its $900 from its own account. Together Carol owes the bank $800. No row was written twice.

-- @schema
CREATE TABLE accounts (name text PRIMARY KEY, balance int NOT NULL);

-- @setup
INSERT INTO accounts (name, balance) VALUES ('savings', 500), ('checking', 500);

-- @transaction withdraw(account, amount)
\step check
SELECT sum(balance) AS total FROM accounts \gset
\echo $:total in all, $:amount wanted from :account
\if :total < :amount
  \reject not enough money
\endif
\step debit
UPDATE accounts SET balance = balance - :amount WHERE name = :account;

-- @session alice: withdraw('savings', 900)
-- @session bob:   withdraw('checking', 900)
-- @order alice check, bob check, alice debit, bob debit, alice commit, bob commit

-- @check the two accounts together stay at zero or above
SELECT sum(balance) >= 0 FROM accounts;

-- @measure total in $
SELECT sum(balance) FROM accounts;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix for-update-rows
-- The sum locks all rows that it reads, so the second one waits. From REPEATABLE READ on the waiter is refused, because
-- a row that it wanted to lock has changed.
-- Catalogue: FOR UPDATE on all rows of the sum
-- @retry 10
-- @transaction withdraw(account, amount)
\step check
SELECT sum(balance) AS total FROM (SELECT balance FROM accounts ORDER BY name FOR UPDATE) AS locked \gset
\if :total < :amount
  \reject not enough money
\endif
\step debit
UPDATE accounts SET balance = balance - :amount WHERE name = :account;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob check then holds

-- @fix check-constraint
-- The wrong rule: a constraint sees one row at a time, so it refuses Alice and Bob both, though one of them was right.
-- Catalogue: CHECK (balance >= 0) per row (wrong rule: refuses a legal overdraft)
-- @schema
ALTER TABLE accounts ADD CHECK (balance >= 0);
-- @expect all: stopped 23514 at alice debit and 23514 at bob debit
