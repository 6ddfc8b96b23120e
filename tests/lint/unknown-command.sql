-- @title Write skew

-- @session a
SELECT 1;
\rolback x
\foo
\
