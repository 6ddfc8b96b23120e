-- @title Write skew

-- @title Again
-- @param n = 1
-- @param n = 2
-- @database d
-- @pool d
-- @transaction t(a, a)
SELECT :a;
-- @transaction t(a, b)
SELECT 1;
-- @session s: t(1, 2)
-- @session s: t(1, 2)
-- @order s 1
-- @order s 1
-- @retry 2
-- @retry 3
-- @check c
SELECT true;
-- @check c
SELECT true;
-- @measure m
SELECT 1;
-- @measure m
SELECT 1;
-- @fix f at serializable
-- @variant f at serializable
