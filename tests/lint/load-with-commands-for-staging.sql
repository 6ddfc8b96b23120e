-- @title What only a staged run can do
-- @database bank

-- @transaction pay autocommit
\connect bank
BEGIN;
INSERT INTO payments VALUES (1);
COMMIT \lost
\effect SELECT 1
\crash

-- @transaction other
SELECT 1;

-- @session alice: pay
-- @load pay; other by 2 workers, 10 requests
-- @fix without
-- @transaction pay
SELECT 2;
