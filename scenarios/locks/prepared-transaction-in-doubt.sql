-- @title The coordinator died, and a row stays locked although nobody is connected
-- Formal name: in doubt (two-phase commit).
--
-- An order takes a mug from the stock in a distributed transaction. The coordinator prepares its part and dies before
-- it says COMMIT or ROLLBACK. The prepared transaction survives it, with its locks: the next order waits for the row
-- and gives up with 55P03. There is no session to end; pg_prepared_xacts names what is left.

-- @requires max_prepared_transactions > 0
-- @requires database

-- @schema
CREATE TABLE stock (sku text PRIMARY KEY, quantity int NOT NULL);

-- @setup
INSERT INTO stock VALUES ('mug', 10);

-- @session coordinator
BEGIN;
\step take
UPDATE stock SET quantity = quantity - 1 WHERE sku = 'mug';
PREPARE TRANSACTION 'order-17';
\crash

-- @session shop
SET LOCAL lock_timeout = '200ms';
\step take
UPDATE stock SET quantity = quantity - 1 WHERE sku = 'mug';

-- @order coordinator prepare, shop take, shop commit

-- @check no order is sent away
SELECT NOT raised('55P03');

-- @measure in_doubt
SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database();

-- @expect all: happens 55P03 at shop take

-- @fix recovery-job
-- A job looks for prepared transactions that nobody cares for any more, and ends each as the coordinator's log says,
-- here by COMMIT PREPARED. Until it comes round, everybody who needs the row waits.
-- Catalogue: a recovery job resolves it (COMMIT PREPARED)
-- @session recovery autocommit
\step resolve
COMMIT PREPARED 'order-17';
-- @order coordinator prepare, recovery resolve, shop take, shop commit
-- @expect all: prevented
