-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
-- @order alice check, bob check, alice insert

-- @fix insert-first
-- @transaction approve(who, amount)
\step insert
INSERT INTO expenses VALUES (:amount, :who);
\step check
SELECT 1;

-- @fix no-check
-- @transaction approve(who, amount)
\step insert
INSERT INTO expenses VALUES (:amount, :who);
