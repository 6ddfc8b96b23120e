-- @title Write skew

-- @transaction t
INSERT INTO log VALUES (1);
UPDATE t SET n = n - 1 WHERE n > 0;
\if :ROW_COUNT = 0
\reject sold out
\endif
-- @transaction right
UPDATE t SET n = n - 1 WHERE n > 0;
\if :ROW_COUNT = 0
\reject sold out
\endif
-- @session a: t; right
