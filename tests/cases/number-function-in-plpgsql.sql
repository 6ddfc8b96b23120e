-- @title A database function hands out the same number twice
-- Formal name: P4 lost update inside a function.
--
-- A function returns the next number of the journal: it reads the counter, adds one, and writes it back. It is called
-- in one statement, so it looks as if nothing could come between. But the SELECT in it does not lock, and as a
-- statement of its own it has a snapshot that the UPDATE after it does not share. Two bookings get the same number.

-- @schema
CREATE TABLE counters (name text PRIMARY KEY, next int NOT NULL);
CREATE TABLE entries (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number int NOT NULL);
CREATE FUNCTION take_number(counter text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  taken int;
BEGIN
  SELECT next INTO taken FROM counters WHERE name = counter;
  UPDATE counters SET next = taken + 1 WHERE name = counter;
  RETURN taken;
END $$;

-- @setup
INSERT INTO counters VALUES ('journal', 1);

-- @transaction book
\step number
SELECT take_number('journal') AS number \gset
\step insert
INSERT INTO entries (number) VALUES (:number);

-- @session alice: book
-- @session bob:   book
-- @order alice number, bob number, alice insert, alice commit, bob insert, bob commit

-- @check no number is given twice
SELECT count(*) = count(DISTINCT number) FROM entries;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob number

-- @variant do-block
-- The same in a DO block that the program sends.
-- @transaction book
\step number
DO $$
DECLARE
  taken int;
BEGIN
  SELECT next INTO taken FROM counters WHERE name = 'journal';
  INSERT INTO entries (number) VALUES (taken);
  UPDATE counters SET next = taken + 1 WHERE name = 'journal';
END $$;
-- @order alice number, bob number, alice commit, bob commit
-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob number

-- @fix update-returning
-- One UPDATE adds and returns, and the second caller waits for the row and gets the next number.
-- @retry 10
-- @schema
CREATE OR REPLACE FUNCTION take_number(counter text) RETURNS int LANGUAGE sql AS $$
  UPDATE counters SET next = next + 1 WHERE name = counter RETURNING next - 1 $$;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob number then holds
