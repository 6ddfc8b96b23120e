-- @title The ORM saves every column, and the other editor's change is gone
-- Formal name: P4 lost update, whole-row write.
--
-- Alice and Bob both open the form of one customer. Alice corrects the name, Bob the e-mail address. The ORM loads the
-- whole row and saves the whole row, so Bob's save writes the name that he had loaded over Alice's correction. They
-- never touched the same field, and both saw "saved".

-- @schema
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, email text NOT NULL, version int NOT NULL DEFAULT 0);

-- @setup
INSERT INTO customers (id, name, email) VALUES (1, 'Caroll', 'carol@old.example');

-- @session alice
\step load
SELECT name, email FROM customers WHERE id = 1 \gset
\step save
UPDATE customers SET name = 'Carol', email = :email WHERE id = 1;

-- @session bob
\step load
SELECT name, email FROM customers WHERE id = 1 \gset
\echo bob saves the name :name along with his change
\step save
UPDATE customers SET name = :name, email = 'carol@new.example' WHERE id = 1;

-- @order alice load, bob load, alice save, alice commit, bob save, bob commit

-- @check every change that was reported as saved is in the row
SELECT (name = 'Carol' OR NOT committed('alice')) AND (email = 'carol@new.example' OR NOT committed('bob'))
  FROM customers WHERE id = 1;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob save

-- @fix changed-columns
-- The UPDATE names only what was changed; most ORMs have a setting for it. Two changes of one field still overwrite
-- each other, and so do two fields that only make sense together.
-- Catalogue: write only the changed columns
-- @retry 10
-- @session alice
\step load
SELECT name, email FROM customers WHERE id = 1 \gset
\step save
UPDATE customers SET name = 'Carol' WHERE id = 1;
-- @session bob
\step load
SELECT name, email FROM customers WHERE id = 1 \gset
\step save
UPDATE customers SET email = 'carol@new.example' WHERE id = 1;
-- @expect read-committed: prevented, explored anomaly
-- @expect repeatable-read, serializable: stopped 40001 at bob save then holds

-- @fix for-update
-- Loading takes the row's lock, so the second load waits. Only good where load and save are one transaction, and nobody
-- types in between.
-- Catalogue: FOR UPDATE on load
-- @retry 10
-- @session alice
\step load
SELECT name, email FROM customers WHERE id = 1 FOR UPDATE \gset
\step save
UPDATE customers SET name = 'Carol', email = :email WHERE id = 1;
-- @session bob
\step load
SELECT name, email FROM customers WHERE id = 1 FOR UPDATE \gset
\step save
UPDATE customers SET name = :name, email = 'carol@new.example' WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob load then holds

-- @fix version-column
-- Optimistic locking: the save matches no row when somebody else has saved since, and the loser is told. At READ
-- COMMITTED nothing is raised: an application that does not look at the row count reports "saved" all the same.
-- Catalogue: version column (loser sees 0 rows and gives up)
-- @retry 10
-- @session alice
\step load
SELECT name, email, version FROM customers WHERE id = 1 \gset
\step save
UPDATE customers SET name = 'Carol', email = :email, version = version + 1
 WHERE id = 1 AND version = :version;
\if :ROW_COUNT = 0
  \rollback somebody else has changed this customer, please look again
\endif
-- @session bob
\step load
SELECT name, email, version FROM customers WHERE id = 1 \gset
\step save
UPDATE customers SET name = :name, email = 'carol@new.example', version = version + 1
 WHERE id = 1 AND version = :version;
\if :ROW_COUNT = 0
  \rollback somebody else has changed this customer, please look again
\endif
-- @expect read-committed: prevented
-- @expect repeatable-read, serializable: stopped 40001 at bob save then holds
