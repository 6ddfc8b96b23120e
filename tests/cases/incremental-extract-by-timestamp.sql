-- @title A connector that copies rows by their updated_at leaves one behind
-- Formal name: the order of timestamps is not the order of commits.
--
-- A connector copies every document whose updated_at is later than the latest that it has seen. The time is taken when
-- the UPDATE runs, the row appears when its transaction commits. A transaction that commits late brings a row with an
-- early time, behind the connector's position, and the replica keeps the old text for ever.

-- @schema
CREATE TABLE documents (
  id         int         PRIMARY KEY,
  body       text        NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  xid        xid8        NOT NULL DEFAULT pg_current_xact_id()
);
CREATE TABLE connector (newest timestamptz NOT NULL, horizon xid8 NOT NULL);
CREATE TABLE replica (id int PRIMARY KEY, body text NOT NULL);

-- @setup
INSERT INTO documents (id, body) VALUES (1, 'a'), (2, 'b');
INSERT INTO connector VALUES (clock_timestamp(), pg_current_xact_id());
INSERT INTO replica VALUES (1, 'a'), (2, 'b');

-- @transaction edit(id)
\step update
UPDATE documents
   SET body = body || '!', updated_at = clock_timestamp(), xid = pg_current_xact_id() WHERE id = :id;

-- @transaction copy
\step read
SELECT newest FROM connector \gset
SELECT coalesce(json_agg(json_build_object('id', id, 'body', body)), '[]') AS rows, max(updated_at) AS latest
  FROM documents WHERE updated_at > :newest \gset
\if :latest IS NOT NULL
  \step write
  INSERT INTO replica SELECT id, body FROM json_to_recordset(:rows) AS changed (id int, body text)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body;
  UPDATE connector SET newest = :latest;
\endif

-- @session slow:  edit(1)
-- @session quick: edit(2)
-- @session connector: copy; copy
-- @order slow update, quick commit, connector commit, slow commit, connector commit
-- @finally once-more: copy

-- @check the replica agrees with the documents
SELECT NOT EXISTS (SELECT 1 FROM documents JOIN replica USING (id) WHERE replica.body <> documents.body);

-- @measure behind
SELECT count(*) FROM documents JOIN replica USING (id) WHERE replica.body <> documents.body;

-- @expect all: happens

-- @fix transaction-ids
-- The position is a transaction id, and the connector copies up to the oldest transaction that still runs. A
-- transaction that stays open, anywhere on the server, holds it up.
-- @transaction copy
\step read
SELECT horizon, pg_snapshot_xmin(pg_current_snapshot()) AS oldest FROM connector \gset
SELECT coalesce(json_agg(json_build_object('id', id, 'body', body)), '[]') AS rows
  FROM documents WHERE xid >= :horizon AND xid < :oldest \gset
\step write
INSERT INTO replica SELECT id, body FROM json_to_recordset(:rows) AS changed (id int, body text)
  ON CONFLICT (id) DO UPDATE SET body = excluded.body;
UPDATE connector SET horizon = :oldest;
-- @finally once-more
-- It copies on for as long as somebody else on this server holds the horizon back.
\set behind 1
\while :behind > 0
  BEGIN;
  SELECT horizon, pg_snapshot_xmin(pg_current_snapshot()) AS oldest FROM connector \gset
  INSERT INTO replica SELECT id, body FROM documents WHERE xid >= :horizon AND xid < :oldest
    ON CONFLICT (id) DO UPDATE SET body = excluded.body;
  UPDATE connector SET horizon = :oldest;
  SELECT count(*) AS behind FROM documents WHERE xid >= :oldest \gset
  COMMIT;
  \if :behind > 0
    \sleep 10 ms
  \endif
\endwhile
-- @expect all: prevented
