-- @title Undoing an order takes back somebody else's sale as well
-- Formal name: P4 lost update by a compensation (saga).
--
-- A workflow notes the stock, takes two parts from it, and asks for the payment. The payment fails, and the workflow
-- puts the stock back to what it had noted. In between somebody bought one part. That sale stands, and its part is in
-- the stock again.

-- @schema
CREATE TABLE parts (id int PRIMARY KEY, stock int NOT NULL);
CREATE TABLE sales (pieces int NOT NULL);
CREATE TABLE payment_attempts (successful bool NOT NULL);

-- @setup
INSERT INTO parts VALUES (1, 10);

-- @transaction order_parts
BEGIN;
\step read
SELECT stock AS noted FROM parts WHERE id = 1 \gset
\step take
UPDATE parts SET stock = stock - 2 WHERE id = 1 AND stock >= 2;
\if :ROW_COUNT = 0
  \rollback out of stock
\endif
\step taken
COMMIT;
\step pay
\effect INSERT INTO payment_attempts VALUES (false)
BEGIN;
\step undo
UPDATE parts SET stock = :noted WHERE id = 1;
COMMIT;
\reject the payment failed

-- @session workflow: order_parts
-- @session buyer
\step buy
UPDATE parts SET stock = stock - 1 WHERE id = 1 AND stock >= 1;
\if :ROW_COUNT = 0
  \rollback out of stock
\endif
INSERT INTO sales VALUES (1);

-- @order workflow pay, buyer commit, workflow commit

-- @check stock and sales add up to the ten parts
SELECT stock + (SELECT coalesce(sum(pieces), 0) FROM sales) = 10 FROM parts;

-- @measure stock
SELECT stock FROM parts;

-- @expect all: happens

-- @fix undo-by-difference
-- Undoing adds the two parts that were taken, whatever the stock is by then.
-- @transaction order_parts
BEGIN;
\step take
UPDATE parts SET stock = stock - 2 WHERE id = 1 AND stock >= 2;
\if :ROW_COUNT = 0
  \rollback out of stock
\endif
\step taken
COMMIT;
\step pay
\effect INSERT INTO payment_attempts VALUES (false)
BEGIN;
\step undo
UPDATE parts SET stock = stock + 2 WHERE id = 1;
COMMIT;
\reject the payment failed
-- @expect all: prevented
