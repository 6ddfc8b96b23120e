-- @title Lost update across two requests: no isolation level can see it
-- Formal name: P4 lost update across transactions.
--
-- Alice and Bob both open a wiki page to edit it, and both save. Opening the form is one request, saving it another,
-- and each request is a transaction of its own. When Bob saves, the database sees a plain write of a page that nobody
-- else is writing. His text was made from the old one, so Alice's paragraph is gone, at SERIALIZABLE as well.

-- @schema
CREATE TABLE pages (id int PRIMARY KEY, body text NOT NULL, version int NOT NULL DEFAULT 0);

-- @setup
INSERT INTO pages (id, body) VALUES (1, 'welcome');

-- @transaction edit(who)
BEGIN;
\step load
SELECT body, version FROM pages WHERE id = 1 \gset
\step loaded
COMMIT;
BEGIN;
\step save
UPDATE pages SET body = :body || ', ' || :who, version = version + 1 WHERE id = 1;
COMMIT;

-- @session alice: edit('alice')
-- @session bob:   edit('bob')
-- @order alice loaded, bob loaded, alice commit, bob commit

-- @check every edit that was reported as saved is in the page
SELECT (body LIKE '%alice%' OR NOT committed('alice')) AND (body LIKE '%bob%' OR NOT committed('bob'))
  FROM pages WHERE id = 1;

-- @expect all: happens

-- @fix version-column
-- The form carries the version that it was loaded with, and the save asks for it. Bob's save matches no row, and he is
-- told to look again. It holds at every level, because it needs none.
-- Catalogue: version column
-- @transaction edit(who)
BEGIN;
\step load
SELECT body, version FROM pages WHERE id = 1 \gset
\step loaded
COMMIT;
BEGIN;
\step save
UPDATE pages SET body = :body || ', ' || :who, version = version + 1 WHERE id = 1 AND version = :version;
\if :ROW_COUNT = 0
  \rollback somebody else has saved this page, please look again
\endif
COMMIT;
-- @expect all: prevented

-- @fix for-update
-- Does not help at any level: a lock lasts until the end of its transaction, and that is the end of the first request.
-- Catalogue: FOR UPDATE in the load request (does not help)
-- @transaction edit(who)
BEGIN;
\step load
SELECT body, version FROM pages WHERE id = 1 FOR UPDATE \gset
\step loaded
COMMIT;
BEGIN;
\step save
UPDATE pages SET body = :body || ', ' || :who, version = version + 1 WHERE id = 1;
COMMIT;
-- @expect all: happens
