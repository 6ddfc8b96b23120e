CREATE TABLE t (a int);
-- @setup
INSERT INTO t VALUES (:a);
CREATE TABLE u (a text DEFAULT 'x;
