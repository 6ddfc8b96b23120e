-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
-- @fix f at serializable
-- @title Late
-- @param n = 1
-- @database d
-- @pool p
-- @load approve('a', 1) by 2 workers, 3 requests
-- @file x.csv
