-- @title Write skew

-- @session a
SELECT 1;
COMMIT;
-- @session b
UPDATE t SET n = 1;
ROLLBACK;
-- @session c
BEGIN;
UPDATE t SET n = 1;
ROLLBACK;
