-- @title Write skew

-- @schema
CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END;
CREATE TABLE t (a int);

-- @session a
SELECT 1;
