-- @title When the row is locked, the reservation goes into a new row, past the check
-- Formal name: G2: a lock failure is caught at a savepoint and worked around.
--
-- Ten pieces are in stock. A reservation checks what is available and then locks the stock's row with NOWAIT. Under
-- load the row is often locked, or the snapshot too old; the code catches that at a savepoint and writes the
-- reservation into a row of its own, so that nobody waits. Nothing guards the check any more: two customers reserve
-- six pieces each.

-- @schema
CREATE TABLE stock (
  id       int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product  int NOT NULL,
  quantity int NOT NULL,
  reserved int NOT NULL
);
CREATE INDEX ON stock (product);

-- @setup
INSERT INTO stock (product, quantity, reserved) VALUES (3, 10, 0);

-- @transaction reserve(pieces)
\step check
SELECT min(id) AS id, sum(quantity - reserved) AS available FROM stock WHERE product = 3 \gset
\if :available < :pieces
  \reject not enough in stock
\endif
\step reserve
SAVEPOINT before_lock;
\try
  SELECT FROM stock WHERE id = :id FOR UPDATE NOWAIT;
  UPDATE stock SET reserved = reserved + :pieces WHERE id = :id;
\on 55P03, 40001
  ROLLBACK TO SAVEPOINT before_lock;
  INSERT INTO stock (product, quantity, reserved) VALUES (3, 0, :pieces);
\endtry

-- @session alice: reserve(6)
-- @session bob:   reserve(6)
-- @order alice check, bob check, alice reserve, bob reserve, alice commit, bob commit

-- @check never more reserved than there is
SELECT sum(reserved) <= sum(quantity) FROM stock WHERE product = 3;

-- @measure reserved
SELECT sum(reserved) FROM stock WHERE product = 3;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix wait-and-recheck
-- Waits for the row, checks again in the WHERE of the UPDATE, and runs the whole transaction again after 40001.
-- @retry 10
-- @transaction reserve(pieces)
\step check
SELECT min(id) AS id, sum(quantity - reserved) AS available FROM stock WHERE product = 3 \gset
\if :available < :pieces
  \reject not enough in stock
\endif
\step reserve
UPDATE stock SET reserved = reserved + :pieces WHERE id = :id AND quantity - reserved >= :pieces;
\if :ROW_COUNT = 0
  \rollback not enough in stock
\endif
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob reserve then holds
