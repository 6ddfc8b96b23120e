-- @title Write skew

-- @param n = 5
-- @transaction t(a)
SELECT :a;
-- @load t(1) by 2 workers, 10 requests, set n, as x
