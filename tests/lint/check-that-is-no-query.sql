-- @title Write skew

-- @session a
SELECT 1;

-- @check no query
UPDATE t SET n = 1;
-- @check captured
SELECT 1 AS x \gset
-- @check nothing
-- @check
SELECT true;
-- @check commands only
\set x 1
-- @measure m in
SELECT 1;
-- @measure n of x
DELETE FROM t;
