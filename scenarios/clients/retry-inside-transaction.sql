-- @title Retrying inside the same transaction never succeeds
-- Formal name: retry scope (the snapshot stays).
--
-- A database function counts, catches the serialization failure and tries again, three times. At REPEATABLE READ all
-- three fail in the same way: each try is made in the same transaction, with the same old snapshot, and the row stays
-- newer than that. ROLLBACK TO SAVEPOINT in the client fares no better.

-- @schema
CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL);
CREATE FUNCTION count_up() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  FOR try IN 1..3 LOOP
    BEGIN
      UPDATE counters SET n = n + 1 WHERE id = 1;
      RETURN 'done at try ' || try;
    EXCEPTION WHEN serialization_failure THEN
      NULL;
    END;
  END LOOP;
  RETURN 'gave up';
END $$;

-- @setup
INSERT INTO counters VALUES (1, 0);

-- @session alice
\step count
UPDATE counters SET n = n + 1 WHERE id = 1;

-- @session bob
\step look
SELECT n FROM counters WHERE id = 1 \gset
\step count
SELECT count_up() AS result \gset
\echo bob: :result

-- @order bob look, alice count, bob count, alice commit, bob commit

-- @check every count that was reported as done is in the counter
SELECT n = committed('alice')::int + committed('bob')::int FROM counters;

-- @expect read-committed: waits
-- @expect repeatable-read, serializable: happens

-- @fix retry-whole
-- The error ends the transaction, and the client begins a new one, with a new snapshot.
-- Catalogue: no handler inside: the whole transaction is retried
-- @retry 10
-- @session bob
\step look
SELECT n FROM counters WHERE id = 1 \gset
\step count
UPDATE counters SET n = n + 1 WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob count then holds
