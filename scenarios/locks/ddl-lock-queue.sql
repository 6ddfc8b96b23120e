-- @title A migration waits, and the whole shop stands still
-- Formal name: lock queue (ACCESS EXCLUSIVE).
--
-- A long report reads the orders. A migration adds a column to the table and waits for the report, which was to be
-- expected. But now every page that only reads orders waits as well: it would go together with the report, but it
-- stands in line behind the migration. Readers give up with 55P03, though nobody has changed anything yet.

-- @schema
CREATE TABLE orders (id int PRIMARY KEY);

-- @setup
INSERT INTO orders VALUES (1);

-- @session report
\step read
SELECT count(*) FROM orders;

-- @session migration
\step alter
ALTER TABLE orders ADD COLUMN note text;

-- @session page
SET LOCAL lock_timeout = '500ms';
\step read
SELECT count(*) FROM orders;

-- @order report read, migration alter, page read, wait page, report commit, migration commit, page commit

-- @check no reader is sent away
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE session = 'page' AND sqlstate = '55P03');

-- @expect all: happens 55P03 at page read

-- @fix lock-timeout
-- The migration gives up its place in the line after a short wait and tries again later. Readers wait no longer than
-- that.
-- Catalogue: lock_timeout on the migration, then retry
-- @retry 10 also 55P03
-- @session migration
SET LOCAL lock_timeout = '250ms';
\step alter
ALTER TABLE orders ADD COLUMN note text;
-- @order report read, migration alter, page read, wait migration, page commit, report commit, migration commit
-- @expect all: stopped 55P03 at migration alter then holds
