-- @title Write skew

-- @setup
INSERT INTO teams VALUES ('design);
INSERT INTO teams VALUES ('x');

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
