-- @title Two imports insert the same tags, in different orders
-- Formal name: deadlock (waits at a unique index).
--
-- Two imports store the tags of their articles in one transaction each, with ON CONFLICT DO NOTHING, so that a tag
-- that exists does no harm. One has "red, blue", the other "blue, red". No row is locked by hand. But whoever inserts
-- a key that another transaction has just inserted waits to learn whether it commits, and so each waits for the other.

-- @schema
CREATE TABLE tags (name text PRIMARY KEY);

-- @transaction import(first, second)
\step first
INSERT INTO tags VALUES (:first) ON CONFLICT DO NOTHING;
\step second
INSERT INTO tags VALUES (:second) ON CONFLICT DO NOTHING;

-- @session a: import('red', 'blue')
-- @session b: import('blue', 'red')
-- @order a first, b first, a second, b second, a commit, b commit

-- @check nobody is sent away with a deadlock
SELECT NOT raised('40P01');

-- @measure tags
SELECT count(*) FROM tags;

-- @expect all: happens 40P01

-- @fix sort-the-keys
-- Every import inserts in alphabetical order. The second one then waits at its first tag and holds nothing.
-- Catalogue: sort the keys first
-- @retry 10
-- @transaction import(first, second)
\step first
INSERT INTO tags VALUES (least(:first, :second)) ON CONFLICT DO NOTHING;
\step second
INSERT INTO tags VALUES (greatest(:first, :second)) ON CONFLICT DO NOTHING;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b first then holds
