-- @title Write skew

-- @transaction t
SELECT 1;
\sleep 20 ms
-- @session a: t
-- @finally b
\sleep 20 ms
SELECT 1;
