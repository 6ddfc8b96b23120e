-- @title The outbox poller skips an event for ever
-- Formal name: the order of identity values is not the order of commits.
--
-- Each request writes its event to an outbox table, and a poller sends the events on and remembers the highest id.
-- Event 1 is still uncommitted when event 2 commits; the poller sends 2 and moves its position to 2. Then event 1
-- commits, below the position, and is never sent. No level helps: "poll, then the first request, then poll" is a valid
-- order.

-- @schema
CREATE TABLE outbox (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body text   NOT NULL,
  xid  xid8   NOT NULL DEFAULT pg_current_xact_id(),  -- for the fix that polls by transaction id
  sent bool   NOT NULL DEFAULT false                  -- for the fix that keeps no position
);
CREATE TABLE poller (last_id bigint NOT NULL DEFAULT 0, last_xid xid8 NOT NULL DEFAULT '0');
CREATE TABLE delivered (id bigint NOT NULL);

-- @setup
INSERT INTO poller DEFAULT VALUES;

-- @transaction emit(body)
\step insert
INSERT INTO outbox (body) VALUES (:body);

-- @transaction poll
\step send
INSERT INTO delivered SELECT id FROM outbox WHERE id > (SELECT last_id FROM poller);
\step remember
UPDATE poller SET last_id = greatest(last_id, (SELECT max(id) FROM delivered));

-- @session first:  emit('first')
-- @session second: emit('second')
-- @session poller: poll; poll
-- @order first insert, second commit, poller commit, first commit, poller commit

-- @check every event is delivered
SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE id NOT IN (SELECT id FROM delivered));

-- @measure missing
SELECT count(*) FROM outbox WHERE id NOT IN (SELECT id FROM delivered);

-- @expect all: happens

-- @fix below-xmin
-- The poller takes only events of transactions older than the oldest one that still runs, and remembers that point.
-- One transaction that stays open, in any database of the server, holds all delivery back.
-- Catalogue: poll below pg_snapshot_xmin
-- @transaction poll
\step send
SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon \gset
INSERT INTO delivered
  SELECT id FROM outbox WHERE xid >= (SELECT last_xid FROM poller) AND xid < :horizon;
\step remember
UPDATE poller SET last_xid = :horizon;
-- @finally poller
-- It polls on for as long as somebody else on this server holds the horizon back.
\set missing 1
\while :missing > 0
  BEGIN;
  SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon \gset
  INSERT INTO delivered
    SELECT id FROM outbox WHERE xid >= (SELECT last_xid FROM poller) AND xid < :horizon;
  UPDATE poller SET last_xid = :horizon;
  SELECT count(*) AS missing FROM outbox WHERE id NOT IN (SELECT id FROM delivered) \gset
  COMMIT;
  \if :missing > 0
    \sleep 10 ms
  \endif
\endwhile
-- @expect all: prevented

-- @fix sent-flag
-- No position at all: whatever is visible and not marked is sent and marked. It costs a write for each event.
-- Catalogue: a sent flag instead of a cursor
-- @transaction poll
\step send
WITH taken AS (UPDATE outbox SET sent = true WHERE NOT sent RETURNING id)
INSERT INTO delivered SELECT id FROM taken;
-- @expect all: prevented

-- @fix writers-in-line
-- One lock for all who write events, held until they commit: ids then become visible in their order, and writers wait
-- for each other.
-- Catalogue: writers take an advisory xact lock before the INSERT
-- @requires database
-- @transaction emit(body)
\step lock
SELECT pg_advisory_xact_lock(1);
\step insert
INSERT INTO outbox (body) VALUES (:body);
-- @expect all: waits
