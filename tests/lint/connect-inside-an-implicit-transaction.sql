-- @title Write skew

-- @database other
-- @session a
\connect other
SELECT 1;
\connect main
SELECT 2;
