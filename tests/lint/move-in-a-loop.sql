-- @title Write skew

-- @session a
\step first
SELECT 1;
\set i 0
\while :i < 3
\step one
SELECT 1;
\step two
SELECT 2;
\set i :i + 1
\endwhile
\step last
SELECT 3;
-- @order a one, a two, a one, a one, a last, a one
