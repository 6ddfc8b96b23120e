-- @title Black and white: two bulk updates swap everything in place of joining it
-- Formal name: G2-item write skew (black and white).
--
-- Alice hands all her tickets over to Bob. In the same second Bob hands all his to Alice. One after the other, all
-- tickets would end up with whoever was second. At once, each UPDATE finds the rows that match when it begins, the two
-- touch no row in common, and Alice and Bob have swapped their tickets.

-- @schema
CREATE TABLE tickets (id int PRIMARY KEY, owner text NOT NULL);

-- @setup
INSERT INTO tickets (id, owner)
  SELECT id, CASE WHEN id % 2 = 0 THEN 'alice' ELSE 'bob' END FROM generate_series(1, 10) AS id;

-- @transaction hand_over(giver, taker)
\step update
UPDATE tickets SET owner = :taker WHERE owner = :giver;

-- @session alice: hand_over('alice', 'bob')
-- @session bob:   hand_over('bob', 'alice')
-- @order alice update, bob update, alice commit, bob commit

-- @check one of them has all the tickets
SELECT count(DISTINCT owner) = 1 FROM tickets;

-- @measure owners
SELECT count(DISTINCT owner) FROM tickets;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix lock-table
-- LOCK TABLE waits before the UPDATE takes its snapshot, so it holds at every level. Row locks could not help: the rows
-- that matter to Bob are not his yet.
-- Catalogue: LOCK TABLE first
-- @transaction hand_over(giver, taker)
\step lock
LOCK TABLE tickets IN SHARE ROW EXCLUSIVE MODE;
\step update
UPDATE tickets SET owner = :taker WHERE owner = :giver;
-- @order alice update, bob lock, bob update, alice commit, bob commit
-- @expect all: waits
