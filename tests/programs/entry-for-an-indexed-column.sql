-- @title An UPDATE of an indexed column makes new entries in every index
-- At SERIALIZABLE one of the two fails, though no row is touched by both.

-- @schema
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE INDEX ON t (v);

-- @setup
INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0);

-- @session a
SELECT v FROM t WHERE id = 1;
UPDATE t SET v = 1 WHERE id = 2;

-- @session b
SELECT v FROM t WHERE id = 3;
UPDATE t SET v = 1 WHERE id = 4;
