-- @title Write skew

-- @session a at serialisable
SELECT 1;
-- @expect read-commited, all: holds
-- @fix f at serializable, snapshot
