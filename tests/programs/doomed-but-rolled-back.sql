-- @title A doomed transaction goes free if it rolls back before its next statement
-- At SERIALIZABLE each reads what the other one writes. When b has committed, a's next statement fails; its ROLLBACK does
-- not.

-- @schema
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES t ON DELETE CASCADE);

-- @setup
INSERT INTO t VALUES (1, 0), (2, 1), (3, 2);

-- @session a
DELETE FROM t WHERE id = 2;
SELECT v FROM t WHERE id = 3 FOR SHARE;
\rollback no

-- @session b
INSERT INTO child VALUES (2, 1);
SELECT * FROM t;
