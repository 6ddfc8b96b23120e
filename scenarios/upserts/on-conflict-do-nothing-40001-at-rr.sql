-- @title An INSERT that ignores duplicates fails on a duplicate
-- Formal name: 40001 from ON CONFLICT DO NOTHING.
--
-- A webhook is delivered twice. The receiver stores it with ON CONFLICT DO NOTHING, so that the second delivery does
-- no harm. At REPEATABLE READ it does: the receiver has read something first, the other delivery is stored meanwhile,
-- and the duplicate is younger than the snapshot. PostgreSQL neither inserts nor ignores it: it raises 40001.

-- @schema
CREATE TABLE deliveries (id text PRIMARY KEY);

-- @transaction receive
\step look
SELECT count(*) AS stored FROM deliveries \gset
\echo :stored deliveries are stored
\step store
INSERT INTO deliveries VALUES ('order-17') ON CONFLICT DO NOTHING;

-- @session first:  receive
-- @session second: receive
-- @order second look, first commit, second store, second commit

-- @check nobody is sent away with a serialization failure
SELECT NOT raised('40001');

-- @check the delivery is stored once
SELECT count(*) = 1 FROM deliveries;

-- @expect read-committed: prevented, explored anomaly
-- @expect repeatable-read, serializable: happens 40001 at second store

-- @fix retry
-- The second attempt has a snapshot that shows the duplicate, and ignores it.
-- Catalogue: retry (one row stored)
-- @retry 10
-- @check nobody is sent away with a serialization failure
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up'));
-- @expect read-committed: prevented, explored anomaly
-- @expect repeatable-read, serializable: stopped 40001 at second store then holds
