-- @title Write skew

-- @session a
\step one
\step two
SELECT 1;
\step three
