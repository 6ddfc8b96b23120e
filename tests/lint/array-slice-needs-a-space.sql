-- @title Write skew

-- @transaction t(keys, n)
SELECT (:keys)[1:2], (:keys)[1: n], (:keys)[1:m];

-- @session a: t(ARRAY[1], 2)
