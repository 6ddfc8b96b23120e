-- @title A foreign key checked by the application leaves an orphan
-- Formal name: G2 write skew (foreign-key-like).
--
-- The schema has no foreign keys; the application keeps them. Alice adds an order for a customer whom she has just
-- looked up. Bob deletes that customer, having seen that there are no orders. Each looked at the table that the other
-- one was about to write, and an order is left without a customer.

-- @schema
CREATE TABLE customers (id int PRIMARY KEY);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL);

-- @setup
INSERT INTO customers (id) VALUES (1);

-- @transaction add_order
\step check
SELECT count(*) AS customers FROM customers WHERE id = 1 \gset
\if :customers = 0
  \reject no such customer
\endif
\step insert
INSERT INTO orders (id, customer_id) VALUES (1, 1);

-- @transaction delete_customer
\step check
SELECT count(*) AS orders FROM orders WHERE customer_id = 1 \gset
\if :orders > 0
  \reject the customer has orders
\endif
\step delete
DELETE FROM customers WHERE id = 1;

-- @session alice: add_order
-- @session bob:   delete_customer
-- @order alice check, bob check, alice insert, bob delete, alice commit, bob commit

-- @check every order has a customer
SELECT NOT EXISTS (SELECT FROM orders WHERE customer_id NOT IN (SELECT id FROM customers));

-- @measure orphans
SELECT count(*) FROM orders WHERE customer_id NOT IN (SELECT id FROM customers);

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix foreign-key
-- The real thing looks past every snapshot and holds at every level. The loser gets 23503, at SERIALIZABLE 40001, and
-- its retry finds the order.
-- Catalogue: foreign key constraint (23503)
-- @retry 10
-- @schema
ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers;
-- @expect read-committed, repeatable-read: stopped 23503 at bob delete
-- @expect serializable: stopped 40001 at bob delete then holds

-- @fix key-share-by-one
-- Does not help below SERIALIZABLE: Alice locks the customer, and Bob's DELETE does wait for her. But he had looked for
-- orders before, and does not look again.
-- Catalogue: FOR KEY SHARE on the parent, by the child only (does not help)
-- @retry 10
-- @transaction add_order
\step check
SELECT count(*) AS customers FROM (SELECT 1 FROM customers WHERE id = 1 FOR KEY SHARE) AS locked \gset
\if :customers = 0
  \reject no such customer
\endif
\step insert
INSERT INTO orders (id, customer_id) VALUES (1, 1);
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob delete then holds

-- @fix both-lock
-- Both lock the customer before they look, Alice FOR KEY SHARE, Bob FOR UPDATE. At REPEATABLE READ it fails silently:
-- Bob looks for orders in a snapshot that is older than his wait.
-- Catalogue: FOR KEY SHARE by the child, FOR UPDATE then re-check by the deleter
-- @retry 10
-- @transaction add_order
\step check
SELECT count(*) AS customers FROM (SELECT 1 FROM customers WHERE id = 1 FOR KEY SHARE) AS locked \gset
\if :customers = 0
  \reject no such customer
\endif
\step insert
INSERT INTO orders (id, customer_id) VALUES (1, 1);
-- @transaction delete_customer
\step lock
SELECT id FROM customers WHERE id = 1 FOR UPDATE;
\step check
SELECT count(*) AS orders FROM orders WHERE customer_id = 1 \gset
\if :orders > 0
  \reject the customer has orders
\endif
\step delete
DELETE FROM customers WHERE id = 1;
-- @order alice check, bob lock, bob check, alice insert, bob delete, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob delete then holds
