-- @title One idempotency key, two charges
-- Formal name: a check for absence whose effect no rollback undoes.
--
-- A payment carries an idempotency key. The service looks for a stored answer, finds none, charges the card at the
-- bank, and stores the answer under the key. Two requests with the same key arrive together: both look, both charge.
-- The unique key lets one of them store its answer and rolls the other back, but not its charge.

-- @schema
CREATE TABLE answers (key text PRIMARY KEY, answer text);
CREATE TABLE charges (key text NOT NULL);

-- @transaction pay(key)
\step look
SELECT answer FROM answers WHERE key = :key \gset
\if :answer IS NULL
  \step charge
  \effect INSERT INTO charges VALUES (:key)
  \step store
  \try
    INSERT INTO answers VALUES (:key, 'paid');
  \on 23505
    \rollback 409 conflict
  \endtry
\endif

-- @session first:  pay('k1')
-- @session second: pay('k1')
-- @order first look, second look, first charge, first store, second charge, first commit, second commit

-- @check the card is charged once
SELECT count(*) <= 1 FROM charges;

-- @measure charges
SELECT count(*) FROM charges;

-- @expect all: happens

-- @fix claim-first
-- The key is stored and committed before the charge, so that one request at most goes to the bank.
-- @retry 10
-- @transaction pay(key)
BEGIN;
\step claim
INSERT INTO answers VALUES (:key, NULL) ON CONFLICT DO NOTHING;
\set mine :ROW_COUNT = 1
\step claimed
COMMIT;
\if NOT :mine
  \reject 409 in progress
\endif
\step charge
\effect INSERT INTO charges VALUES (:key)
BEGIN;
\step store
UPDATE answers SET answer = 'paid' WHERE key = :key;
COMMIT;
-- @order first claim, second claim, first claimed, second claimed, first commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at second claim then holds
