-- @title Get-or-create returns no row although the row exists
-- Formal name: one statement, one snapshot: a CTE after ON CONFLICT DO NOTHING.
--
-- A tag is fetched or created in one statement: INSERT ... ON CONFLICT DO NOTHING, UNION ALL a SELECT of the same
-- name. Two requests bring the same new tag. The second waits, inserts nothing since the tag now exists, and its
-- SELECT does not see it either: both parts use the snapshot from before the wait. The request goes on without an id.

-- @schema
CREATE TABLE tags (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);

-- @session first
\step insert
INSERT INTO tags (name) VALUES ('rust');

-- @session second
\step get
WITH created AS (INSERT INTO tags (name) VALUES ('rust') ON CONFLICT DO NOTHING RETURNING id)
SELECT id FROM created UNION ALL SELECT id FROM tags WHERE name = 'rust' \gset
\echo the second request got the id :id

-- @order first insert, second get, first commit, second commit

-- @check whoever asked for the tag got its id
SELECT NOT committed('second') OR seen('second', 'get', 'id') IS NOT NULL;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at second get

-- @fix second-statement
-- At READ COMMITTED a statement of its own has a snapshot from after the wait. It still finds nothing if the tag is
-- deleted in between.
-- Catalogue: SELECT in a second statement
-- @retry 10
-- @session second
\step get
INSERT INTO tags (name) VALUES ('rust') ON CONFLICT DO NOTHING;
SELECT id FROM tags WHERE name = 'rust' \gset
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at second get then holds

-- @fix do-update
-- An update that changes nothing returns the row whether it is new or not. It writes a new version of the row each
-- time.
-- Catalogue: ON CONFLICT DO UPDATE SET name=excluded.name RETURNING
-- @retry 10
-- @session second
\step get
INSERT INTO tags (name) VALUES ('rust') ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id \gset
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at second get then holds
