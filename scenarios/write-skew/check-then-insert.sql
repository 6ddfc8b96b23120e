-- @title Check, then insert: two users with the same name
-- Formal name: G2 write skew over a predicate (unique-like).
--
-- Two people sign up as "sam" in the same second. Each request asks whether the name is free, is told yes, and inserts
-- it. The validation of a web framework does just this before it saves: where the model says "unique" and the table
-- does not, there will be two of them one day, and nobody knows which one logs in.

-- @schema
CREATE TABLE users (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);

-- @transaction sign_up(name)
\step check
SELECT count(*) AS taken FROM users WHERE name = :name \gset
\echo users called :name: :taken
\if :taken > 0
  \reject the name is taken
\endif
\step insert
INSERT INTO users (name) VALUES (:name);

-- @session alice: sign_up('sam')
-- @session bob:   sign_up('sam')
-- @order alice check, bob check, alice insert, bob insert, alice commit, bob commit

-- @check a name belongs to one user
SELECT count(*) <= 1 FROM users WHERE name = 'sam';

-- @measure users
SELECT count(*) FROM users WHERE name = 'sam';

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix unique
-- The table itself refuses the second row. The loser gets 23505, which the application has to turn into "taken"; at
-- SERIALIZABLE it gets 40001 first, because it had looked for the name, and its retry finds it.
-- Catalogue: unique constraint (23505)
-- @retry 10
-- @schema
ALTER TABLE users ADD UNIQUE (name);
-- @expect read-committed, repeatable-read: stopped 23505 at bob insert
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix on-conflict
-- With the constraint and ON CONFLICT DO NOTHING the loser waits, inserts no row, and learns it from the row count: no
-- error at READ COMMITTED. From REPEATABLE READ on it gets 40001, for a row that it is not allowed to see.
-- Catalogue: unique constraint + ON CONFLICT DO NOTHING
-- @retry 10
-- @schema
ALTER TABLE users ADD UNIQUE (name);
-- @transaction sign_up(name)
\step check
SELECT count(*) AS taken FROM users WHERE name = :name \gset
\if :taken > 0
  \reject the name is taken
\endif
\step insert
INSERT INTO users (name) VALUES (:name) ON CONFLICT DO NOTHING;
\if :ROW_COUNT = 0
  \rollback the name is taken
\endif
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob insert then holds

-- @fix where-not-exists
-- Does not help below SERIALIZABLE: one statement in place of two, but it too reads only what is committed when it
-- begins.
-- Catalogue: INSERT ... WHERE NOT EXISTS (does not help)
-- @retry 10
-- @transaction sign_up(name)
\step insert
INSERT INTO users (name) SELECT :name WHERE NOT EXISTS (SELECT FROM users WHERE name = :name);
\if :ROW_COUNT = 0
  \rollback the name is taken
\endif
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit then holds

-- @fix advisory-lock
-- A lock on a hash of the name. At REPEATABLE READ it fails silently: the statement that waits for the lock has taken
-- the snapshot already.
-- Catalogue: advisory xact lock
-- @requires database
-- @retry 10
-- @transaction sign_up(name)
\step lock
SELECT pg_advisory_xact_lock(hashtext(:name));
\step check
SELECT count(*) AS taken FROM users WHERE name = :name \gset
\if :taken > 0
  \reject the name is taken
\endif
\step insert
INSERT INTO users (name) VALUES (:name);
-- @order alice check, bob lock, bob check, alice insert, bob insert, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds
