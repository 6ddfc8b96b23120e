-- @title Write skew

-- @param budget = 5000

-- @transaction t(who)
SELECT :whoo, :budget, :nothing, :"who", :'amount';
\echo :wo pays $:bugdet at 10:30
\set total :totl + 1

-- @session a: t(:budgt)
