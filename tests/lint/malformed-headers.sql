-- @title Write skew

-- @param
-- @param x
-- @param x =
-- @param y = :x
-- @retry
-- @retry 0
-- @retry many
-- @retry 3 also
-- @retry 3 also 23505, x
-- @retry 3 times
-- @setup twice
SELECT 1;
-- @transaction t(a
SELECT 1;
-- @session s
SELECT 1;
-- @database a b
