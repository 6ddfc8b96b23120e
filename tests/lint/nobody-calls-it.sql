-- @title Write skew

-- @transaction approve(who)
SELECT :who;
-- @transaction spare
SELECT 1;
-- @transaction loaded
SELECT 1;
-- @session a: approve('a')
-- @load loaded by 2 workers, 10 requests
-- @fix f
-- @transaction aprove(who)
SELECT :who;
