-- @title Lost update through a cursor: a change made since FETCH is gone
-- Formal name: P4C cursor lost update, G-cursor.
--
-- A nightly batch walks through the accounts with a cursor, computes each new balance in the application, and writes it
-- with WHERE CURRENT OF. Between FETCH and UPDATE Bob pays $20 into the account. The batch writes the balance that it
-- had fetched plus $10 of interest, and Bob's $20 are gone. A cursor holds a place, not a lock.

-- @schema
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);

-- @setup
INSERT INTO accounts (id, balance) VALUES (1, 100);

-- @session batch
\step fetch
DECLARE every_account CURSOR FOR SELECT id, balance FROM accounts;
FETCH NEXT FROM every_account \gset
\step update
UPDATE accounts SET balance = :balance + 10 WHERE CURRENT OF every_account;

-- @session bob
\step deposit
UPDATE accounts SET balance = balance + 20 WHERE id = 1;

-- @order batch fetch, bob deposit, bob commit, batch update, batch commit

-- @check all that was paid in is in the balance
SELECT balance = 100 + 10 * committed('batch')::int + 20 * committed('bob')::int FROM accounts WHERE id = 1;

-- @measure balance in $
SELECT balance FROM accounts WHERE id = 1;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at batch update

-- @fix for-update
-- The cursor locks each row as it is fetched, until the batch commits. From REPEATABLE READ on Bob, who waits, is
-- refused in place of the batch, and has to retry.
-- Catalogue: cursor FOR UPDATE
-- @retry 10
-- @session batch
\step fetch
DECLARE every_account CURSOR FOR SELECT id, balance FROM accounts FOR UPDATE;
FETCH NEXT FROM every_account \gset
\step update
UPDATE accounts SET balance = :balance + 10 WHERE CURRENT OF every_account;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob deposit then holds
