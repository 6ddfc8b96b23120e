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
-- @expect read-committed: stopped 40001 at bbo commit
-- @expect repeatable-read: stopped 40001 at bob comit and 40P01 at alice delete
-- @expect serializable: happens 23505 at bob insrt
