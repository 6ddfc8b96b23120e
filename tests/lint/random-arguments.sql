-- @title Write skew

-- @param n = 5
-- @transaction t(a)
SELECT :a;
-- @load t(random(1, 20)); t(random(5, 1)); t(random(1, :n)); t(random(1, 2) * 3); t(random()) by 2 workers, 10 requests
