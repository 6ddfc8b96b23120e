-- @title Write skew

-- @session a
SELECT n FROM t \gset old_
UPDATE t SET n = :n + 1;
