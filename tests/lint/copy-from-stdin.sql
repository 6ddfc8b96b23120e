-- @title Write skew

-- @setup
COPY t (a, b) FROM STDIN;
COPY t FROM '/tmp/x';
-- @session a
SELECT 1;
