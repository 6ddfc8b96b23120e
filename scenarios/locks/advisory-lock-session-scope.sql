-- @title The import failed, and its lock is held until the server is restarted
-- Formal name: a lock of the session outlives its transaction (lock leak through a connection pool).
--
-- A nightly import takes an advisory lock so that it runs once. It fails and rolls back, and its connection goes back
-- to the pool, open. pg_advisory_lock() belongs to the session, not to the transaction: neither ROLLBACK nor COMMIT
-- gives it back. Every later import finds it taken.

-- @requires database

-- @session failed
BEGIN;
\step lock
SELECT pg_advisory_lock(42);
ROLLBACK;

-- @session next
\step try
SELECT pg_try_advisory_lock(42) AS got \gset
\echo the next import got the lock: :got
\if :got
  \step unlock
  SELECT pg_advisory_unlock(42);
\endif

-- @order failed rollback, next try, next commit

-- @check the next import gets the lock
SELECT seen('next', 'try', 'got')::bool;

-- @expect all: happens

-- @fix transaction-lock
-- The lock of the transaction is given back when it ends, whichever way. Who comes before its end gets no lock, rightly.
-- Catalogue: pg_advisory_xact_lock
-- @session failed
BEGIN;
\step lock
SELECT pg_advisory_xact_lock(42);
ROLLBACK;
-- @expect all: prevented, explored happens

-- @fix discard-all
-- The pool clears the session when the connection comes back. One that does so only sometimes leaves the bug.
-- Catalogue: DISCARD ALL when the connection is returned
-- @session failed
BEGIN;
\step lock
SELECT pg_advisory_lock(42);
ROLLBACK;
\step discard
DISCARD ALL;
-- @order failed discard, next try, next commit
-- @expect all: prevented, explored happens
