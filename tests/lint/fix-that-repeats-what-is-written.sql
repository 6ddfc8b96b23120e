-- @title A fix that was copied and never changed

-- @transaction buy
UPDATE items SET stock = stock - 1;

-- @session alice: buy
-- @retry 10

-- @fix copied
-- The same again.
-- @transaction buy
UPDATE items SET stock = stock - 1;

-- @retry 10
-- @expect all: prevented

-- @fix with-another-setup
-- @setup
INSERT INTO items VALUES (1);
