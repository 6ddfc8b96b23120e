-- @title Two transfers in opposite directions stop each other
-- Formal name: deadlock (lock order).
--
-- Alice sends $10 to Bob while Bob sends $20 to Alice. Each transfer first takes the money from the one account and
-- then adds it to the other. Each holds the row that the other needs, and neither can go on. PostgreSQL notices after
-- a second and ends one of them with 40P01.

-- @schema
CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance int NOT NULL);

-- @setup
INSERT INTO accounts VALUES (1, 'alice', 100), (2, 'bob', 100);

-- @transaction transfer(source, target, amount)
\step debit
UPDATE accounts SET balance = balance - :amount WHERE id = :source;
\step credit
UPDATE accounts SET balance = balance + :amount WHERE id = :target;

-- @session alice: transfer(1, 2, 10)
-- @session bob:   transfer(2, 1, 20)
-- @order alice debit, bob debit, alice credit, bob credit, alice commit, bob commit

-- @check nobody is sent away with a deadlock
SELECT NOT raised('40P01');

-- @check no money is lost
SELECT sum(balance) = 200 FROM accounts;

-- @expect all: happens 40P01

-- @fix lower-id-first
-- Every transfer writes the row with the lower id first. Then the second one waits at its first row and holds nothing
-- that the other needs.
-- Catalogue: same order everywhere (update the lower id first)
-- @retry 10
-- @transaction transfer(source, target, amount)
\step lower
UPDATE accounts SET balance = balance + CASE id WHEN :source THEN -:amount ELSE :amount END
 WHERE id = least(:source, :target);
\step higher
UPDATE accounts SET balance = balance + CASE id WHEN :source THEN -:amount ELSE :amount END
 WHERE id = greatest(:source, :target);
-- @order alice lower, bob lower, alice higher, bob higher, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lower then holds

-- @fix lock-both-first
-- One SELECT locks both rows in the order of their ids before anything is written. Without the ORDER BY it is no cure.
-- Catalogue: lock both first, ORDER BY id FOR UPDATE
-- @retry 10
-- @transaction transfer(source, target, amount)
\step lock
SELECT FROM accounts WHERE id IN (:source, :target) ORDER BY id FOR UPDATE;
\step debit
UPDATE accounts SET balance = balance - :amount WHERE id = :source;
\step credit
UPDATE accounts SET balance = balance + :amount WHERE id = :target;
-- @order alice lock, alice debit, bob lock, bob debit, alice credit, bob credit, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix retry
-- The deadlock stays, and costs a second each time; the client of the one that was ended runs the transfer again.
-- @retry 10
-- @check nobody is sent away with a deadlock
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect all: stopped 40P01 then holds
