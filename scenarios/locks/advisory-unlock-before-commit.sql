-- @title The lock was given back one line before COMMIT
-- Formal name: P4 lost update despite a mutex.
--
-- A counter is read and written under an advisory lock. The code unlocks in the function that locked, and the
-- framework commits afterwards. Bob gets the lock in between and reads the counter before Alice's new value is
-- visible. Her increment is lost, although no two requests were ever inside the lock together.

-- @requires database

-- @schema
CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL);

-- @setup
INSERT INTO counters VALUES (1, 0);

-- @transaction count
\step lock
SELECT pg_advisory_lock(1);
\step read
SELECT n FROM counters WHERE id = 1 \gset
\step write
UPDATE counters SET n = :n + 1 WHERE id = 1;
\step unlock
SELECT pg_advisory_unlock(1);

-- @session alice: count
-- @session bob:   count
-- @order alice unlock, bob lock, bob read, alice commit, bob write, bob unlock, bob commit

-- @check every count that was reported as done is in the counter
SELECT n = committed('alice')::int + committed('bob')::int FROM counters;

-- @measure n
SELECT n FROM counters;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob write

-- @fix transaction-lock
-- The lock of the transaction is given back by COMMIT itself. From REPEATABLE READ on the snapshot of whoever waited
-- is too old, and 40001 and the retry do the rest.
-- Catalogue: pg_advisory_xact_lock
-- @retry 10
-- @transaction count
\step lock
SELECT pg_advisory_xact_lock(1);
\step read
SELECT n FROM counters WHERE id = 1 \gset
\step write
UPDATE counters SET n = :n + 1 WHERE id = 1;
-- @order alice write, bob lock, bob read, alice commit, bob write, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob write then holds
