-- @title MERGE is not an upsert
-- Formal name: the race of MERGE ... WHEN NOT MATCHED.
--
-- Goods are booked into the stock by MERGE: matched, then add; not matched, then insert. Two deliveries of a new
-- article arrive at once. Neither MERGE finds a row, both insert, and the second fails with a unique violation. MERGE
-- decides by its snapshot what to do, and does not change its mind when the row turns up after all.

-- @requires version >= 15

-- @schema
CREATE TABLE stock (sku text PRIMARY KEY, quantity int NOT NULL);

-- @transaction book(amount)
\step book
MERGE INTO stock USING (VALUES ('mug', :amount)) AS delivery (sku, quantity) ON stock.sku = delivery.sku
  WHEN MATCHED THEN UPDATE SET quantity = stock.quantity + delivery.quantity
  WHEN NOT MATCHED THEN INSERT VALUES (delivery.sku, delivery.quantity);

-- @session alice: book(1)
-- @session bob:   book(2)
-- @order alice book, bob book, alice commit, bob commit

-- @check nobody is sent away with a unique violation
SELECT NOT raised('23505');

-- @check every delivery that got through is in the stock
SELECT sum(quantity) = 1 * committed('alice')::int + 2 * committed('bob')::int FROM stock;

-- @measure quantity
SELECT sum(quantity) FROM stock;

-- @expect read-committed, repeatable-read: happens 23505 at bob book
-- @expect serializable: stopped 40001 at bob book

-- @fix on-conflict
-- ON CONFLICT goes by the unique index, not by the snapshot, and waits for the row. From REPEATABLE READ on it may
-- raise 40001, so it comes with a retry.
-- Catalogue: INSERT ... ON CONFLICT DO UPDATE (+ retry)
-- @retry 10
-- @transaction book(amount)
\step book
INSERT INTO stock VALUES ('mug', :amount) ON CONFLICT (sku) DO UPDATE SET quantity = stock.quantity + excluded.quantity;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob book then holds

-- @fix retry-23505
-- The second attempt finds the row and adds to it. SERIALIZABLE reports the same race as 40001.
-- Catalogue: retry on 23505 as well
-- @retry 10 also 23505
-- @check nobody is sent away with a unique violation
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect read-committed, repeatable-read: stopped 23505 at bob book then holds
-- @expect serializable: stopped 40001 at bob book then holds
