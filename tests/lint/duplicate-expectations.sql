-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)

-- @check within budget
SELECT true;
-- @expect read-committed: happens
-- @expect all: prevented
-- @expect serializable on < 18: waits
-- @expect serializable on >= 18: holds
-- @expect serializable on < 18: waits
