-- @title Write skew

-- @session a
SELECT 'one
-- @check x
two';
