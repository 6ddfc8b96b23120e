-- @title Adding a line to an order and then locking the order
-- Formal name: deadlock (the foreign key's KEY SHARE lock, then FOR UPDATE).
--
-- Two requests each add a line to one order, then lock the order FOR UPDATE to raise its total. No statement locked
-- the order before that, it seems. But the foreign key did: each INSERT of a line locks its order FOR KEY SHARE until
-- it commits. FOR UPDATE does not go with that, and each waits for the other.

-- @schema
CREATE TABLE orders (id int PRIMARY KEY, total int NOT NULL);
CREATE TABLE lines (id int PRIMARY KEY, order_id int NOT NULL REFERENCES orders, amount int NOT NULL);

-- @setup
INSERT INTO orders VALUES (1, 0);

-- @transaction add_line(id, amount)
\step line
INSERT INTO lines VALUES (:id, 1, :amount);
\step lock
SELECT total FROM orders WHERE id = 1 FOR UPDATE \gset
\step total
UPDATE orders SET total = :total + :amount WHERE id = 1;

-- @session alice: add_line(1, 10)
-- @session bob:   add_line(2, 20)
-- @order alice line, bob line, alice lock, bob lock, alice total, alice commit, bob total, bob commit

-- @check nobody is sent away with a deadlock
SELECT NOT raised('40P01');

-- @check the total is the sum of the lines
SELECT total = (SELECT coalesce(sum(amount), 0) FROM lines) FROM orders;

-- @expect all: happens 40P01

-- @fix no-key-update
-- The weaker lock is all that an UPDATE of the total needs, and it goes with the foreign key's lock.
-- Catalogue: FOR NO KEY UPDATE instead of FOR UPDATE
-- @retry 10
-- @transaction add_line(id, amount)
\step line
INSERT INTO lines VALUES (:id, 1, :amount);
\step lock
SELECT total FROM orders WHERE id = 1 FOR NO KEY UPDATE \gset
\step total
UPDATE orders SET total = :total + :amount WHERE id = 1;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix lock-order-first
-- The order is locked before the line is added, so that the second request waits with empty hands.
-- Catalogue: lock the parent before the child
-- @retry 10
-- @transaction add_line(id, amount)
\step lock
SELECT total FROM orders WHERE id = 1 FOR UPDATE \gset
\step line
INSERT INTO lines VALUES (:id, 1, :amount);
\step total
UPDATE orders SET total = :total + :amount WHERE id = 1;
-- @order alice lock, bob lock, alice line, alice total, alice commit, bob line, bob total, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob lock then holds

-- @fix plain-update
-- The database adds, without a lock by hand. An UPDATE that leaves the key alone takes the weaker lock by itself.
-- Catalogue: plain UPDATE of a non-key column
-- @retry 10
-- @transaction add_line(id, amount)
\step line
INSERT INTO lines VALUES (:id, 1, :amount);
\step total
UPDATE orders SET total = total + :amount WHERE id = 1;
-- @order alice line, bob line, alice total, alice commit, bob total, bob commit
-- @expect read-committed: prevented
-- @expect repeatable-read, serializable: stopped 40001 at bob total then holds
