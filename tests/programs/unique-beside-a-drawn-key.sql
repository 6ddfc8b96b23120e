-- @title Two sessions insert the same value, in rows whose keys the server draws
-- Whoever comes second waits for the first, or fails at once, or has seen the row and does nothing.

-- @schema
CREATE TABLE names (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);

-- @transaction create
SELECT count(*) AS names FROM names WHERE name = 'a' \gset
\if :names > 0
  \reject taken
\endif
INSERT INTO names (name) VALUES ('a');

-- @session first: create
-- @session second: create
