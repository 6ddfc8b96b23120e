-- @title Observed transaction vanishes: a guest sees new prices, then old ones again
-- Formal name: OTV observed transaction vanishes.
--
-- Alice sets new prices for both rooms, and so does Bob, a moment later. A guest reads the single, the double, and both
-- again. Once the guest has seen a price of Alice's, no older one may come back: if it did, her change would seem to
-- have been undone. PostgreSQL keeps Bob waiting until Alice has committed, so her prices show together or not at all.

-- @schema
CREATE TABLE rooms (name text PRIMARY KEY, price int NOT NULL);

-- @setup
INSERT INTO rooms (name, price) VALUES ('single', 100), ('double', 200);

-- @transaction set_prices(single, double)
\step single
UPDATE rooms SET price = :single WHERE name = 'single';
\step double
UPDATE rooms SET price = :double WHERE name = 'double';

-- @session alice: set_prices(110, 190)
-- @session bob:   set_prices(120, 180)

-- @session guest
\step single
SELECT price FROM rooms WHERE name = 'single' \gset
\step double
SELECT price FROM rooms WHERE name = 'double' \gset
\step double-again
SELECT price FROM rooms WHERE name = 'double' \gset
\step single-again
SELECT price FROM rooms WHERE name = 'single' \gset

-- @order alice double, bob single, alice commit, guest single, bob double, guest double, bob commit, guest commit

-- @check no change that the guest has seen vanishes
-- Of each price the guest saw the oldest, the one in between, or the last: never an older state than before.
WITH look AS (
  SELECT number, CASE seen WHEN oldest THEN 0 WHEN price::text THEN 2 ELSE 1 END AS state
    FROM rooms
    JOIN (VALUES (1, 'single', '100', seen('guest', 'single', 'price')),
                 (2, 'double', '200', seen('guest', 'double', 'price')),
                 (3, 'double', '200', seen('guest', 'double-again', 'price')),
                 (4, 'single', '100', seen('guest', 'single-again', 'price'))) look(number, room, oldest, seen)
      ON name = room)
SELECT NOT EXISTS (SELECT 1 FROM look earlier JOIN look later ON earlier.number < later.number
                    WHERE earlier.state > later.state);

-- @expect read-committed: waits, explored anomaly
-- @expect repeatable-read, serializable: stopped 40001 at bob single
