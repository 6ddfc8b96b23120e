-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
-- @expect all: happens
-- @fix f at serializable
-- @expect read-committed: waits
-- @fix g
-- @retry 2
-- @expect all: stopped 40001 then holds
-- @fix h
-- @order bob check
-- @expect all: stopped 40001 then holds
