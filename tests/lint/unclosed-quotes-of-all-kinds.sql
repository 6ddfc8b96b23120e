-- @title Write skew

-- @setup
SELECT E'a\';
-- @transaction a
SELECT $body$ SELECT 1; $$;
-- @transaction b
SELECT "x FROM t;
-- @transaction c
SELECT 1 /* /* */;
-- @transaction d
\set x 'a
\if "b
SELECT 1;
\endif
-- @session s: a; b; c; d
