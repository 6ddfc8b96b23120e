-- @title Write skew

-- @transaction t(who)
SELECT n FROM t \gset
-- @session a: t('x')
-- @session b
\set m 1
SELECT 1;
-- @finally a
SELECT :n, :who, :m;
-- @finally b
SELECT :m, :n;
-- @finally c
SELECT :n;
