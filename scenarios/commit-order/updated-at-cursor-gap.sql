-- @title A sync by updated_at misses a document
-- Formal name: now() is the start of the transaction, visibility comes with its commit.
--
-- A search index takes over every document whose updated_at is newer than the newest that it has seen. A long request
-- begins at 10:00, changes document 1 and commits at 10:05. A short one changes document 2 at 10:03, and the sync
-- moves its position to 10:03. Document 1 then appears with 10:00, behind the position, and is never taken over.

-- @schema
CREATE TABLE documents (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
CREATE TABLE sync_position (newest timestamptz NOT NULL);
CREATE TABLE synced (id int NOT NULL);

-- @setup
INSERT INTO documents VALUES (1, '2000-01-01'), (2, '2000-01-01');
INSERT INTO sync_position VALUES ('2000-01-01');

-- @transaction edit(id)
\step update
UPDATE documents SET updated_at = now() WHERE id = :id;

-- @transaction sync
\step take
INSERT INTO synced SELECT id FROM documents WHERE updated_at > (SELECT newest FROM sync_position);
\step remember
UPDATE sync_position SET newest = (SELECT max(updated_at) FROM documents);

-- @session slow:  edit(1)
-- @session quick: edit(2)
-- @session index: sync; sync
-- @order slow update, quick commit, index commit, slow commit, index commit

-- @check every document that was changed is synced
SELECT NOT EXISTS (SELECT 1 FROM documents WHERE updated_at > '2000-01-01' AND id NOT IN (SELECT id FROM synced));

-- @measure missing
SELECT count(*) FROM documents WHERE updated_at > '2000-01-01' AND id NOT IN (SELECT id FROM synced);

-- @expect all: happens

-- @fix clock-timestamp
-- The time of the UPDATE in place of the time of BEGIN: the gap is narrower, and it is still there.
-- Catalogue: clock_timestamp() instead of now() (does not help)
-- @transaction edit(id)
\step update
UPDATE documents SET updated_at = clock_timestamp() WHERE id = :id;
-- @expect all: happens

-- @fix changed-flag
-- No time at all: a document begins with the flag and every change sets it; the sync takes what is flagged and clears
-- it. It waits for changes under way; from REPEATABLE READ on it meets 40001 instead and tries again.
-- Catalogue: dirty flag cleared by the sync
-- @retry 10
-- @schema
ALTER TABLE documents ADD changed bool NOT NULL DEFAULT true;
-- @transaction edit(id)
\step update
UPDATE documents SET updated_at = now(), changed = true WHERE id = :id;
-- @transaction sync
\step take
WITH taken AS (UPDATE documents SET changed = false WHERE changed RETURNING id)
INSERT INTO synced SELECT id FROM taken;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at index take then holds
