-- @title Write skew

-- @setup
\step x
SELECT 1;
\reject no
\crash
\effect SELECT 1
\sleep 1 ms
SELECT 2 \lost
-- @session a
SELECT 1;
