-- @title Write skew

-- @schema broken/tables.sql
-- @schema broken/missing.sql
-- @schema broken

-- @session a
SELECT 1;
