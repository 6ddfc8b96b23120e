-- @title Write skew

-- @session a
SELECT 1; \echo one
SELECT 2 \echo two
SELECT 3 \gset a b
\gset
\lost
COMMIT \lost now
