-- @title The helper that creates or finds a tag says "not found"
-- Formal name: a unique index sees more than the snapshot.
--
-- The helper inserts the tag; if the unique index says that it exists, it goes back to a savepoint and looks it up. At
-- REPEATABLE READ the transaction had read something before, and the tag was stored after that: it exists for the
-- index, and not for the snapshot of the lookup. The helper that promises a row raises "not found".

-- @schema
CREATE TABLE tags (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);

-- @transaction create_or_find
\step earlier
SELECT count(*) FROM tags;
\step create
SAVEPOINT before_insert;
\try
  INSERT INTO tags (name) VALUES ('db') RETURNING id \gset
\on 23505
  ROLLBACK TO SAVEPOINT before_insert;
  \step find
  SELECT id FROM tags WHERE name = 'db' \gset
  \if :id IS NULL
    DO $$ BEGIN RAISE no_data_found USING MESSAGE = 'tag not found'; END $$;
  \endif
\endtry

-- @session first:  create_or_find
-- @session second: create_or_find
-- @order first earlier, second earlier, first create, first commit, second find, second commit

-- @check the tag is there once
SELECT count(*) = 1 FROM tags;

-- @check nobody is sent away with an error
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));

-- @expect read-committed: prevented
-- @expect repeatable-read: happens P0002 at second find
-- @expect serializable: happens 40001 at second create

-- @fix locking-lookup
-- Not a fix on PostgreSQL: a lookup with FOR UPDATE reads the snapshot as well. On MySQL it reads the newest row.
-- @transaction create_or_find
\step earlier
SELECT count(*) FROM tags;
\step create
SAVEPOINT before_insert;
\try
  INSERT INTO tags (name) VALUES ('db') RETURNING id \gset
\on 23505
  ROLLBACK TO SAVEPOINT before_insert;
  \step find
  SELECT id FROM tags WHERE name = 'db' FOR UPDATE \gset
  \if :id IS NULL
    DO $$ BEGIN RAISE no_data_found USING MESSAGE = 'tag not found'; END $$;
  \endif
\endtry
-- @expect read-committed: prevented
-- @expect repeatable-read: happens P0002 at second find
-- @expect serializable: happens 40001 at second create

-- @fix retry-whole
-- "Not found" means a snapshot that is too old: the whole transaction runs again, and finds the tag.
-- @retry 10 also P0002
-- @expect read-committed: prevented
-- @expect repeatable-read: stopped P0002 at second find then holds
-- @expect serializable: stopped 40001 at second create then holds
