-- @title Two shoppers buy the last umbrella
-- The comments below the title tell the story. One umbrella is left. Alice and Bob both put it into their baskets and
-- pay in the same second. Each request reads the stock, sees one, and takes it. Both are told that it is theirs.

-- A scenario is SQL with sections, which begin with "-- @". This one runs as it is: change a section, and run it again.
--
--   isolab lint FILE                               every mistake in it, without a server
--   isolab run FILE                                the story of the staged order
--   isolab matrix FILE                             every fix at every level
--   isolab explore FILE                            every other order

-- @schema
-- The tables: made once, in a schema of the lab's own that is dropped at the end.
CREATE TABLE items (name text PRIMARY KEY, stock int NOT NULL);
CREATE TABLE sales (id serial PRIMARY KEY, item text NOT NULL, buyer text NOT NULL);

-- @setup
-- The rows to begin with: the tables are emptied and these written before every run.
INSERT INTO items VALUES ('umbrella', 1);

-- @transaction buy(buyer)
-- What one request does. BEGIN and COMMIT are added. \gset makes variables of a row's columns, :buyer is an argument,
-- \if is what the program decides, and \step names what can be moved in the order below.
\step look
SELECT stock FROM items WHERE name = 'umbrella' \gset
\echo :buyer sees :stock in stock
\if :stock < 1
  \reject sold out
\endif
\step take
UPDATE items SET stock = :stock - 1 WHERE name = 'umbrella';
INSERT INTO sales (item, buyer) VALUES ('umbrella', :buyer);

-- Who runs it, each with a connection of its own.
-- @session alice: buy('Alice')
-- @session bob: buy('Bob')

-- The staged order: who goes on to the end of which step. `commit` is a step too. A session that has to wait for
-- another one catches up when it can.
-- @order alice look, bob look, alice take, bob take, alice commit, bob commit

-- @check nothing is sold twice
-- What must be true at the end, as a query: true is right.
SELECT count(*) <= 1 FROM sales;

-- @measure sold
-- A number to report.
SELECT count(*) FROM sales;

-- What is foreseen at each level: happens (a check fails), stopped SQLSTATE at SESSION STEP, waits, prevented. Without
-- it a run says what it saw; with it the exit code says whether that is still so.
-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob take

-- Other ways to do it, each up to the next one. What a fix says replaces what stands above.

-- @fix repeatable-read at repeatable-read
-- The same code at another level. The client has to run a transaction that was stopped again, up to ten times in all.
-- @retry 10
-- @expect repeatable-read: stopped 40001 at bob take then holds

-- @fix for-update
-- Other statements: look and lock in one. Whoever comes second waits, and then sees what is left.
-- @transaction buy(buyer)
\step look
SELECT stock FROM items WHERE name = 'umbrella' FOR UPDATE \gset
\echo :buyer sees :stock in stock
\if :stock < 1
  \reject sold out
\endif
\step take
UPDATE items SET stock = :stock - 1 WHERE name = 'umbrella';
INSERT INTO sales (item, buyer) VALUES ('umbrella', :buyer);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob look
