-- @title A cycle of three: each job is harmless beside any one of the others
-- Formal name: G2-item with three transactions (primary colors).
--
-- Alice hands all her tickets over to Bob, Bob all his to Carol, Carol all hers to Alice, in the same second. Any two
-- of them at once would be as good as one after the other. The three together are not: somebody should be left without
-- a ticket, and the tickets have only gone round. A test with two sessions would never find it.

-- @schema
CREATE TABLE tickets (id int PRIMARY KEY, owner text NOT NULL);

-- @setup
INSERT INTO tickets (id, owner)
  SELECT id, (ARRAY['alice', 'bob', 'carol'])[1 + id % 3] FROM generate_series(1, 9) AS id;

-- @transaction hand_over(giver, taker)
\step update
UPDATE tickets SET owner = :taker WHERE owner = :giver;

-- @session alice: hand_over('alice', 'bob')
-- @session bob:   hand_over('bob', 'carol')
-- @session carol: hand_over('carol', 'alice')
-- @order alice update, bob update, carol update, alice commit, bob commit, carol commit

-- @check somebody is left without a ticket
SELECT count(DISTINCT owner) < 3 FROM tickets;

-- @measure owners
SELECT count(DISTINCT owner) FROM tickets;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit and 40001 at carol commit

-- @fix serializable at serializable
-- PostgreSQL refuses two of the three, more than it would have to; their retries run one after the other.
-- @retry 10
-- @expect serializable: stopped 40001 at bob commit and 40001 at carol commit then holds

-- @fix lock-table
-- LOCK TABLE waits before the UPDATE takes its snapshot, so it holds at every level.
-- @transaction hand_over(giver, taker)
\step lock
LOCK TABLE tickets IN SHARE ROW EXCLUSIVE MODE;
\step update
UPDATE tickets SET owner = :taker WHERE owner = :giver;
-- @order alice update, bob lock, carol lock, bob update, carol update, alice commit, bob commit, carol commit
-- @expect all: waits
