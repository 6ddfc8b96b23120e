-- @title Write skew

-- @session a
UPDATE t SET n = :n + 1;
SELECT n FROM t \gset
\if :count = 0
\reject none
\endif
