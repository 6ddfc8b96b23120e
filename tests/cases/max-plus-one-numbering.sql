-- @title Two invoices get the same number
-- Formal name: G2 predicate write skew (max + 1).
--
-- The next invoice number is the highest so far plus one. Two orders are confirmed in the same moment, both see 1 as
-- the highest, and both invoices are number 2. Locking the row with the highest number does not help: the one who
-- waits gets that same row again, and not the new one.

-- @schema
CREATE TABLE invoices (
  id     int  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  series text NOT NULL,
  number int  NOT NULL,
  buyer  text NOT NULL
);
CREATE TABLE series (name text PRIMARY KEY, last_number int NOT NULL);

-- @setup
INSERT INTO invoices (series, number, buyer) VALUES ('2024', 1, 'carol');
INSERT INTO series VALUES ('2024', 1);

-- @transaction confirm(who)
\step number
SELECT coalesce(max(number), 0) + 1 AS number FROM invoices WHERE series = '2024' \gset
\step insert
INSERT INTO invoices (series, number, buyer) VALUES ('2024', :number, :who);

-- @session alice: confirm('alice')
-- @session bob:   confirm('bob')
-- @order alice number, bob number, alice insert, alice commit, bob insert, bob commit

-- @load confirm(:worker) by 8 workers, 200 requests

-- @check no number is given twice
SELECT count(*) = count(DISTINCT (series, number)) FROM invoices;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert

-- @fix lock-the-highest
-- Not a fix: Bob waits for the row that was the highest, looks at it again, and it has not changed.
-- @retry 10
-- @transaction confirm(who)
\step number
SELECT number + 1 AS number FROM invoices WHERE series = '2024' ORDER BY invoices.number DESC LIMIT 1 FOR UPDATE \gset
\step insert
INSERT INTO invoices (series, number, buyer) VALUES ('2024', :number, :who);
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix counter-row
-- A row for the series is counted up, and whoever comes second waits for it.
-- @retry 10
-- @transaction confirm(who)
\step number
UPDATE series SET last_number = last_number + 1 WHERE name = '2024' RETURNING last_number AS number \gset
\step insert
INSERT INTO invoices (series, number, buyer) VALUES ('2024', :number, :who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob number then holds

-- @fix unique-and-retry
-- The schema forbids the second one, and the client numbers again.
-- @retry 10 also 23505
-- @schema
ALTER TABLE invoices ADD UNIQUE (series, number);
-- @expect read-committed, repeatable-read: stopped 23505 at bob insert then holds
-- @expect serializable: stopped 40001 at bob insert then holds
