-- @title The retry loop for SERIALIZABLE meets a unique violation
-- Formal name: error class: a loop that retries 40001 alone is not enough.
--
-- The shop numbers its invoices by max + 1 at SERIALIZABLE and retries 40001. An old invoice is entered by hand with
-- the number 2, while the shop has just worked out that its next number is 2. Its INSERT fails with 23505, which the
-- loop does not know. Whoever entered the invoice read nothing, so there is no cycle that SERIALIZABLE could report as
-- 40001.

-- @schema
CREATE TABLE invoices (number int PRIMARY KEY, buyer text NOT NULL);

-- @setup
INSERT INTO invoices VALUES (1, 'carol');

-- @session shop
\step number
SELECT max(number) + 1 AS number FROM invoices \gset
\step insert
INSERT INTO invoices VALUES (:number, 'dora');

-- @session office
\step enter
INSERT INTO invoices VALUES (2, 'emil');

-- @order shop number, office enter, shop insert, office commit, shop commit

-- @check nobody is sent away with a unique violation
SELECT NOT raised('23505');

-- @check every invoice that got through is stored
SELECT count(*) = 1 + committed('shop')::int + committed('office')::int FROM invoices;

-- @measure invoices
SELECT count(*) FROM invoices;

-- @expect all: happens 23505 at shop insert

-- @fix retry-23505
-- The loop takes a unique violation for what it is here, a race that was lost, and numbers again. With a limit, since
-- some are not races.
-- Catalogue: retry on 23505 as well (both invoices end up stored)
-- @retry 10 also 23505
-- @check nobody is sent away with a unique violation
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect all: stopped 23505 at shop insert then holds

-- @fix do-nothing-and-loop
-- An INSERT that stores nothing says that the number was taken, without an error, and the shop numbers again. From
-- REPEATABLE READ on the loop's snapshot would never see the other invoice, and 40001 says so.
-- Catalogue: ON CONFLICT DO NOTHING, loop while 0 rows
-- @retry 10
-- @session shop
\set stored false
\while NOT :stored
  \step number
  SELECT max(number) + 1 AS number FROM invoices \gset
  \step insert
  INSERT INTO invoices VALUES (:number, 'dora') ON CONFLICT DO NOTHING;
  \set stored :ROW_COUNT = 1
\endwhile
-- @expect read-committed: waits, explored anomaly
-- @expect repeatable-read, serializable: stopped 40001 at shop insert then holds
