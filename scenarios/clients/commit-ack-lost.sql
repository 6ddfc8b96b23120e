-- @title The payment was stored, the answer got lost, and the customer pays twice
-- Formal name: a duplicate write after an unknown outcome.
--
-- A payment is stored and committed, and the connection breaks before the answer to COMMIT arrives. The client cannot
-- know whether it was stored. It connects again and sends the payment once more. No transaction did anything wrong, no
-- two of them ran at the same time, and no isolation level can help.

-- @schema
CREATE TABLE payments (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, request text NOT NULL, amount int NOT NULL);

-- @session client
\try
  BEGIN;
  \step pay
  INSERT INTO payments (request, amount) VALUES ('r1', 10);
  COMMIT \lost
\on 08006
  \echo the client does not know whether it has paid, and tries again
  BEGIN;
  \step pay-again
  INSERT INTO payments (request, amount) VALUES ('r1', 10);
  COMMIT;
\endtry

-- @check the customer pays once
SELECT count(*) = 1 FROM payments;

-- @measure paid in $
SELECT sum(amount) FROM payments;

-- @expect all: happens

-- @fix idempotency-key
-- The client gives each payment a key of its own and keeps it for the second try; the database stores a key only once.
-- Catalogue: idempotency key: unique + ON CONFLICT DO NOTHING
-- @schema
ALTER TABLE payments ADD UNIQUE (request);
-- @session client
\try
  BEGIN;
  \step pay
  INSERT INTO payments (request, amount) VALUES ('r1', 10) ON CONFLICT (request) DO NOTHING;
  COMMIT \lost
\on 08006
  BEGIN;
  \step pay-again
  INSERT INTO payments (request, amount) VALUES ('r1', 10) ON CONFLICT (request) DO NOTHING;
  COMMIT;
\endtry
-- @expect all: prevented
