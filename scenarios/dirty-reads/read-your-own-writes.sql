-- @title Read your own writes: the form shows the old address right after saving
-- Formal name: Elle's :internal, read your own writes.
--
-- Alice changes her address, and the same transaction reads it back to show the saved form, while Bob looks at her
-- profile. If her transaction read from a snapshot alone, she would see the old address and save again. In PostgreSQL a
-- transaction sees its own rows at every level, whatever others see. (A read sent to a replica is another matter.)

-- @schema
CREATE TABLE users (id int PRIMARY KEY, address text NOT NULL);

-- @setup
INSERT INTO users (id, address) VALUES (1, '1 Old Street');

-- @session alice
\step save
UPDATE users SET address = '2 New Street' WHERE id = 1;
\step read-back
SELECT address FROM users WHERE id = 1 \gset
\echo the form shows :address

-- @session bob
\step look
SELECT address FROM users WHERE id = 1 \gset

-- @order bob look, alice save, alice read-back, bob commit, alice commit

-- @check alice sees what she has just saved
SELECT seen('alice', 'read-back', 'address') = '2 New Street';

-- @expect all: prevented
