-- @title Write skew

-- @session a
SELECT count(* FROM t;
SELECT 2;
-- @session b: a(1
