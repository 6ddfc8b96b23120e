-- @title The duplicate of a checkout refunds the payment of the original
-- Formal name: a compensation of what two requests share.
--
-- A checkout is completed twice at once, by a double click. The first request uses up the voucher, which is good for
-- one order. The second finds it used up, takes the checkout for failed, and refunds its payment. It is the payment of
-- the first request as well, which goes on to create the order: goods for nothing.

-- @schema
CREATE TABLE vouchers (id int PRIMARY KEY, used int NOT NULL);
CREATE TABLE checkouts (id int PRIMARY KEY, voucher_counted bool NOT NULL);
CREATE TABLE payments (id int PRIMARY KEY, state text NOT NULL);
CREATE TABLE orders (checkout_id int PRIMARY KEY);

-- @setup
INSERT INTO vouchers VALUES (1, 0);
INSERT INTO checkouts VALUES (1, false);
INSERT INTO payments VALUES (1, 'charged');

-- @transaction complete
\step look
SELECT checkout_id FROM orders WHERE checkout_id = 1 \gset
\if :checkout_id IS NULL
  BEGIN;
  \step use
  UPDATE vouchers SET used = used + 1 WHERE id = 1 AND used < 1;
  \if :ROW_COUNT = 0
    ROLLBACK;
    BEGIN;
    \step refund
    UPDATE payments SET state = 'refunded' WHERE id = 1;
    COMMIT;
    \reject the voucher is used up
  \endif
  \step used
  COMMIT;
  BEGIN;
  \step order
  INSERT INTO orders VALUES (1) ON CONFLICT DO NOTHING;
  COMMIT;
\endif

-- @session original:  complete
-- @session duplicate: complete
-- @order original used, duplicate refund, duplicate commit, original order, original commit

-- @check no order whose payment was refunded
SELECT NOT EXISTS (SELECT 1 FROM orders) OR state <> 'refunded' FROM payments;

-- @expect all: happens

-- @fix mark-the-checkout
-- The checkout itself says that its voucher was counted, so that the duplicate knows it for its own.
-- @retry 10
-- @transaction complete
\step look
SELECT checkout_id FROM orders WHERE checkout_id = 1 \gset
\if :checkout_id IS NULL
  BEGIN;
  \step use
  SELECT voucher_counted FROM checkouts WHERE id = 1 FOR UPDATE \gset
  \if NOT :voucher_counted
    UPDATE vouchers SET used = used + 1 WHERE id = 1 AND used < 1;
    \if :ROW_COUNT = 0
      ROLLBACK;
      BEGIN;
      \step refund
      UPDATE payments SET state = 'refunded' WHERE id = 1;
      COMMIT;
      \reject the voucher is used up
    \endif
    UPDATE checkouts SET voucher_counted = true WHERE id = 1;
  \endif
  \step used
  COMMIT;
  BEGIN;
  \step order
  INSERT INTO orders VALUES (1) ON CONFLICT DO NOTHING;
  COMMIT;
\endif
-- @expect all: prevented
