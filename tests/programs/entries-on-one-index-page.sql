-- @title Who reads a row by its key is in conflict with every new entry on the page of the index
-- At SERIALIZABLE one of the two fails, though no row is touched by both.

-- @schema
CREATE TABLE t (id int PRIMARY KEY, v int);

-- @setup
INSERT INTO t VALUES (1, 0), (2, 0);

-- @session a
SELECT v FROM t WHERE id = 1;
INSERT INTO t VALUES (5, 1);

-- @session b
SELECT v FROM t WHERE id = 2;
INSERT INTO t VALUES (6, 1);
