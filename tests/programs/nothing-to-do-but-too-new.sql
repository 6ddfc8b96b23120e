-- @title INSERT ON CONFLICT DO NOTHING fails on a row that its snapshot does not have
-- When b's UPDATE has committed between a's first statement and its second one, a fails at REPEATABLE READ; whatever a
-- does else touches neither that row nor a lock on it.

-- @schema
CREATE TABLE t (id int PRIMARY KEY, v int);

-- @setup
INSERT INTO t VALUES (1, 0), (3, 2);

-- @session a
SELECT v FROM t WHERE id = 1;
INSERT INTO t VALUES (3, 1) ON CONFLICT DO NOTHING;
\rollback no

-- @session b
UPDATE t SET v = 3 WHERE id = 3;
