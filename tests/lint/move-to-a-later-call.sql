-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('a', 1); approve('b', 2)
-- @order alice check, alice check, alice approve.insert, alice aprove.commit, alice check
