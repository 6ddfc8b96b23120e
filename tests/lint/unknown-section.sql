-- @title Write skew

-- @transacton a
SELECT 1;

-- @ check

-- @Session a
SELECT 1;

-- @check: x
SELECT 1;
