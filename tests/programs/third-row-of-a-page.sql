-- @title Who reads three rows of a page is in conflict with every write on the page
-- At SERIALIZABLE one of the two fails, though nobody reads what another one writes.

-- @schema
CREATE TABLE t (id int PRIMARY KEY, v int);

-- @setup
INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0);

-- @session a
SELECT v FROM t WHERE id = 1;
SELECT v FROM t WHERE id = 2;
SELECT v FROM t WHERE id = 3;
UPDATE t SET v = 1 WHERE id = 4;

-- @session b
SELECT v FROM t WHERE id = 1;
SELECT v FROM t WHERE id = 2;
SELECT v FROM t WHERE id = 3;
UPDATE t SET v = 1 WHERE id = 5;
