-- @title Write skew

-- @database archive
-- @pool pooled

-- @session a autocommit
\connect archiv
SELECT 1;
\connect main
\connect nowhere
