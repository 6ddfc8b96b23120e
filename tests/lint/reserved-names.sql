-- @title Write skew

-- @database main
-- @pool wait
-- @transaction main
SELECT 1;
-- @session wait: main
-- @session main
SELECT 1;
