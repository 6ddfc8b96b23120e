-- @title Write skew

-- @transaction approve(who, amount)
\step check
SELECT budget FROM teams \gset
\step insert
INSERT INTO expenses VALUES (:amount, :who);

-- @session alice: approve('alice', 3000)
-- @session bob: approve('bob', 3000)
-- @requires
-- @requires postgres
-- @requires version
-- @requires version 14
-- @requires version >= new
-- @requires version >= 14 or so
-- @requires extension
-- @requires extension a b
-- @requires database x
-- @requires max_connections >
-- @requires plpgsql.extra_errors = 'all'
