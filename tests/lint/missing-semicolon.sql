-- @title Write skew

-- @session a
SELECT n FROM t
\if :n = 1
UPDATE t SET n = 2
\endif
-- @session b
SELECT 1
-- @check c
SELECT true -- really
