-- @title The retry loop is right, and COMMIT stands outside it
-- Formal name: 40001 raised by COMMIT.
--
-- Each owner may have one store. SERIALIZABLE keeps the rule, with a loop that catches 40001 and tries again. The loop
-- wraps the statements; COMMIT comes after it. PostgreSQL may report a serialization failure as late as at COMMIT, and
-- then it goes past the loop to the user, as a server error.

-- @schema
CREATE TABLE stores (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner_id int NOT NULL);

-- @transaction create_store
\set again true
\while :again
  \set again false
  BEGIN;
  \try
    \step count
    SELECT count(*) AS stores FROM stores WHERE owner_id = 1 \gset
    \if :stores >= 1
      \rollback one store for each owner
    \endif
    \step insert
    INSERT INTO stores (owner_id) VALUES (1);
  \on 40001
    ROLLBACK;
    \set again true
  \endtry
\endwhile
COMMIT;

-- @session tab1: create_store
-- @session tab2: create_store
-- @order tab1 count, tab2 count, tab1 insert, tab2 insert, tab1 commit, tab2 commit

-- @check one store for each owner
SELECT count(*) <= 1 FROM stores WHERE owner_id = 1;

-- @check nobody is sent away with a serialization failure
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up') AND sqlstate = '40001');

-- @measure stores
SELECT count(*) FROM stores;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: happens 40001 at tab2 commit

-- @fix commit-inside at serializable
-- The loop wraps COMMIT as well: the client runs the whole transaction again, wherever 40001 came from.
-- @retry 10
-- @transaction create_store
\step count
SELECT count(*) AS stores FROM stores WHERE owner_id = 1 \gset
\if :stores >= 1
  \rollback one store for each owner
\endif
\step insert
INSERT INTO stores (owner_id) VALUES (1);
-- @expect serializable: stopped 40001 at tab2 commit then holds
