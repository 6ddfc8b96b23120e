-- @title Write skew

-- @param budget = 1
-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
-- @load approve('a', 1) by 2 workers, 10 requests, set budgt = 2
