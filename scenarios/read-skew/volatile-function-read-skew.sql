-- @title One SELECT, two moments: a function adds up money that was never there
-- Formal name: G-single inside one statement (a VOLATILE function).
--
-- SELECT total() calls a function that reads the checking account and then the savings account. One statement sees one
-- moment, people say; but a VOLATILE function, and that is what a function is unless declared otherwise, takes a new
-- snapshot for each query inside it. Alice moves $30 between the two queries, and the total is $130 in place of $100.
-- (The advisory lock in the function only serves to hold it still between its two queries.)

-- @requires database

-- @schema
CREATE TABLE accounts (name text PRIMARY KEY, balance int NOT NULL);
CREATE FUNCTION total() RETURNS int VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  checking int;
  savings  int;
BEGIN
  SELECT balance INTO checking FROM accounts WHERE name = 'checking';
  PERFORM pg_advisory_xact_lock(7);
  SELECT balance INTO savings FROM accounts WHERE name = 'savings';
  RETURN checking + savings;
END
$$;

-- @setup
INSERT INTO accounts (name, balance) VALUES ('checking', 50), ('savings', 50);

-- @session alice
\step hold
SELECT pg_advisory_xact_lock(7);
\step move
UPDATE accounts SET balance = balance - 30 WHERE name = 'checking';
UPDATE accounts SET balance = balance + 30 WHERE name = 'savings';

-- @session report
\step total
SELECT total() AS total \gset
\echo the total says $:total

-- @order alice hold, report total, alice move, alice commit, report commit

-- @check the total is $100 at every moment
SELECT seen('report', 'total', 'total')::int = 100;

-- @measure total in $
SELECT seen('report', 'total', 'total')::int;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: waits

-- @fix stable
-- A STABLE function reads with the snapshot of the statement that calls it. It must not write.
-- Catalogue: declare the function STABLE
-- @schema
ALTER FUNCTION total() STABLE;
-- @expect all: waits
