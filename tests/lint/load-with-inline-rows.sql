-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
-- @load approve(:name, :amonut) by 4 workers, 10 requests, from rows.csv

-- @file rows.csv
-- name,amount
-- a,1
-- b
