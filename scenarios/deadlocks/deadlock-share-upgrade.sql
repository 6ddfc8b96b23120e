-- @title Both may read the row under a lock, and neither may write it
-- Formal name: deadlock (lock upgrade).
--
-- Two deposits to one account. Each reads the balance with FOR SHARE, so that nobody changes it underneath, and then
-- writes the new one. Share locks go together, so both get theirs; the UPDATE needs the row alone, and each waits for
-- the other's share lock.

-- @schema
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);

-- @setup
INSERT INTO accounts VALUES (1, 100);

-- @transaction deposit(amount)
\step read
SELECT balance FROM accounts WHERE id = 1 FOR SHARE \gset
\step write
UPDATE accounts SET balance = :balance + :amount WHERE id = 1;

-- @session alice: deposit(10)
-- @session bob:   deposit(20)
-- @order alice read, bob read, alice write, bob write, alice commit, bob commit

-- @check nobody is sent away with a deadlock
SELECT NOT raised('40P01');

-- @check every deposit that got through is in the balance
SELECT balance = 100 + 10 * committed('alice')::int + 20 * committed('bob')::int FROM accounts;

-- @expect all: happens 40P01

-- @fix for-update
-- Whoever is going to write takes the lock for writing at once; the second one waits before it has read anything.
-- Catalogue: FOR UPDATE from the start
-- @retry 10
-- @transaction deposit(amount)
\step read
SELECT balance FROM accounts WHERE id = 1 FOR UPDATE \gset
\step write
UPDATE accounts SET balance = :balance + :amount WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob read then holds
