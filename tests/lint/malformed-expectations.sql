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
-- @expect
-- @expect serializable
-- @expect all happens
-- @expect all:
-- @expect all: stopped
-- @expect all: stopped 4001 at bob commit
-- @expect all: stopped 40001 at bob
-- @expect all: waits then holds
-- @expect all: stopped 40001 then maybe
-- @expect all on 18: holds
-- @expect all on >= x: holds
-- @expect all: happens happens
-- @expect all on >= 31: holds,
-- @expect all on >= 32: waits, explored nothing
-- @expect all on >= 33: waits, happens
-- @expect all on >= 34: happens, explored anomaly
-- @expect all on >= 35: waits, explored anomaly twice
