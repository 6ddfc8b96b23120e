-- @title Write skew

-- @session a
\if true
SELECT 1;
\else
SELECT 2;
\elif false
SELECT 3;
\else
SELECT 4;
\endif
