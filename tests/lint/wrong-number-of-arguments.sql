-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice')
-- @session bob: approve
-- @session carol: approve('carol', 1, 2)
-- @session dan: approve('dan', )
-- @session eve: approve(f(1, 2), '1, 2')
