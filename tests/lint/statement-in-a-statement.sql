-- @title Write skew

-- @session a
INSERT INTO expenses VALUES (1)
UPDATE teams SET spent = 1;
UPDATE teams SET spent = 2
COMMIT;
INSERT INTO t SELECT 1 ON CONFLICT (a) DO
UPDATE SET a = 1;
SELECT 1 FROM t FOR
UPDATE;
WITH w AS (SELECT 1)
DELETE FROM t;
