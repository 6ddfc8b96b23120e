-- @title Circular information flow: two services each find the other already running
-- Formal name: G1c circular information flow.
--
-- Two services start at once. Each writes that it is up, then looks whether the other one is, and the one that finds
-- the other up becomes the standby. If both could see the other's uncommitted row, both would be the standby. That
-- cannot happen on PostgreSQL. What does happen is the opposite: neither sees the other. At SERIALIZABLE that is
-- refused too.

-- @schema
CREATE TABLE services (name text PRIMARY KEY, state text NOT NULL);

-- @setup
INSERT INTO services (name, state) VALUES ('alice', 'down'), ('bob', 'down');

-- @transaction start(me, other)
\step announce
UPDATE services SET state = 'up' WHERE name = :me;
\step look
SELECT state FROM services WHERE name = :other \gset
\echo :me finds :other :state

-- @session alice: start('alice', 'bob')
-- @session bob:   start('bob', 'alice')
-- @order alice announce, bob announce, alice look, bob look, alice commit, bob commit

-- @check at most one of the two has seen the other
SELECT NOT (seen('alice', 'look', 'state') = 'up' AND seen('bob', 'look', 'state') = 'up');

-- @expect read-committed, repeatable-read: prevented, explored anomaly
-- @expect serializable: stopped 40001 at bob commit
