-- @title Two refunds together give back more than was paid
-- Formal name: G2 write skew (a sum of rows against a bound).
--
-- A payment of $100 was captured. A refund is allowed while it and the refunds so far stay within that. Support and an
-- automatic rule refund $60 each in the same moment: both add up nothing so far, both insert, and $120 go back.

-- @schema
CREATE TABLE payments (id int PRIMARY KEY, captured int NOT NULL, refunded int NOT NULL DEFAULT 0);
CREATE TABLE refunds (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payment_id int NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO payments VALUES (1, 100);

-- @transaction refund(amount)
\step check
SELECT captured FROM payments WHERE id = 1 \gset
SELECT coalesce(sum(amount), 0) AS refunded FROM refunds WHERE payment_id = 1 \gset
\echo refunded so far $:refunded, now $:amount of $:captured
\if :refunded + :amount > :captured
  \reject more than was captured
\endif
\step insert
INSERT INTO refunds (payment_id, amount) VALUES (1, :amount);

-- @session support: refund(60)
-- @session rule:    refund(60)
-- @order support check, rule check, support insert, support commit, rule insert, rule commit

-- @load refund(random(1, 20)) by 8 workers, 200 requests

-- @check the refunds stay within what was captured
SELECT coalesce(sum(amount), 0) <= 100 FROM refunds WHERE payment_id = 1;

-- @measure refunded in $
SELECT coalesce(sum(amount), 0) FROM refunds WHERE payment_id = 1;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at rule insert

-- @fix lock-payment
-- Locks the payment's row before it adds up. It holds at READ COMMITTED; at REPEATABLE READ the sum is from before the
-- wait.
-- @retry 10
-- @transaction refund(amount)
\step lock
SELECT captured FROM payments WHERE id = 1 FOR UPDATE \gset
\step check
SELECT coalesce(sum(amount), 0) AS refunded FROM refunds WHERE payment_id = 1 \gset
\if :refunded + :amount > :captured
  \reject more than was captured
\endif
\step insert
INSERT INTO refunds (payment_id, amount) VALUES (1, :amount);
-- @order support lock, rule lock, support check, support insert, support commit, rule check, rule insert, rule commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at rule insert then holds

-- @fix running-total
-- The payment keeps what was refunded, and the bound stands in the WHERE of the UPDATE that adds to it.
-- @retry 10
-- @transaction refund(amount)
\step insert
UPDATE payments SET refunded = refunded + :amount WHERE id = 1 AND refunded + :amount <= captured;
\if :ROW_COUNT = 0
  \rollback more than was captured
\endif
INSERT INTO refunds (payment_id, amount) VALUES (1, :amount);
-- @order support insert, rule insert, support commit, rule commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at rule insert then holds

-- @fix serializable at serializable
-- PostgreSQL refuses one of the two; its retry sees the other refund and is told that it is too much.
-- @retry 10
-- @expect serializable: stopped 40001 at rule insert then holds
