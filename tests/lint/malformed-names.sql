-- @title Write skew

-- @transaction a.b
SELECT 1;
-- @transaction a$b
SELECT 1;
-- @transaction t(a-b, c d)
SELECT 1;
-- @transaction xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
SELECT 1;
-- @session: t
-- @session
SELECT 1;
-- @session s t
SELECT 1;
-- @session u autocommit: t(1, 2)
