-- @title Check the balance, then debit: two withdrawals overdraw the account
-- Formal name: P4-like stale guard, time of check to time of use.
--
-- The account holds $100. Two withdrawals of $80 arrive at once, say from a double click. Each reads the balance, sees
-- that $80 are there, and subtracts. The subtraction is atomic, no update is lost, and the balance is minus $60: what
-- was stale is the answer that each of them had checked.

-- @schema
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);

-- @setup
INSERT INTO accounts (id, balance) VALUES (1, 100);

-- @transaction withdraw(amount)
\step check
SELECT balance FROM accounts WHERE id = 1 \gset
\echo $:balance there, $:amount wanted
\if :balance < :amount
  \reject not enough money
\endif
\step debit
UPDATE accounts SET balance = balance - :amount WHERE id = 1;

-- @session alice: withdraw(80)
-- @session bob:   withdraw(80)
-- @order alice check, bob check, alice debit, bob debit, alice commit, bob commit

-- @check the account is not overdrawn
SELECT balance >= 0 FROM accounts WHERE id = 1;

-- @measure balance in $
SELECT balance FROM accounts WHERE id = 1;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob debit

-- @fix conditional
-- The check stands in the WHERE of the UPDATE. Bob's waits, looks again at the newest balance, and matches no row.
-- Catalogue: conditional UPDATE
-- @retry 10
-- @transaction withdraw(amount)
\step debit
UPDATE accounts SET balance = balance - :amount WHERE id = 1 AND balance >= :amount;
\if :ROW_COUNT = 0
  \rollback not enough money
\endif
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob debit then holds

-- @fix for-update
-- The check takes the row's lock, so the second check waits and sees what the first one left.
-- Catalogue: FOR UPDATE on the check
-- @retry 10
-- @transaction withdraw(amount)
\step check
SELECT balance FROM accounts WHERE id = 1 FOR UPDATE \gset
\if :balance < :amount
  \reject not enough money
\endif
\step debit
UPDATE accounts SET balance = balance - :amount WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob check then holds

-- @fix check-constraint
-- The table itself knows the rule. At READ COMMITTED the loser gets 23514, which the application has to turn into a
-- friendly no; from REPEATABLE READ on it gets 40001 first, and its retry is turned away by the check.
-- Catalogue: CHECK constraint (23514)
-- @retry 10
-- @schema
ALTER TABLE accounts ADD CHECK (balance >= 0);
-- @expect read-committed: stopped 23514 at bob debit
-- @expect repeatable-read, serializable: stopped 40001 at bob debit then holds
