-- @title Decide on an old read, delete by a new one: the clean-up removes nothing
-- Formal name: G-single with a write predicate.
--
-- Alice clears out a price list. She looks whether it is still the old one, in which the first item costs $10, and if
-- so deletes the item at $20. Between the two steps Bob puts in the new prices, $12 and $18. Alice decided on the old
-- list and deletes from the new one: nothing matches, and she reports that the item is gone.

-- @schema
CREATE TABLE items (id int PRIMARY KEY, price int NOT NULL);

-- @setup
INSERT INTO items (id, price) VALUES (1, 10), (2, 20);

-- @session alice
\step look
SELECT price FROM items WHERE id = 1 \gset
\if :price <> 10
  \reject this is not the old price list
\endif
\step delete
DELETE FROM items WHERE price = 20;
\echo items deleted: :ROW_COUNT

-- @session bob
\step reprice
UPDATE items SET price = 12 WHERE id = 1;
UPDATE items SET price = 18 WHERE id = 2;

-- @order alice look, bob reprice, bob commit, alice delete, alice commit

-- @check who has seen the old list deletes from the old list
SELECT NOT (seen('alice', 'look', 'price')::int = 10 AND count(*) = 2) FROM items;

-- @measure items_left
SELECT count(*) FROM items;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at alice delete

-- @fix repeatable-read at repeatable-read
-- PostgreSQL refuses to delete a row that has changed since the snapshot, even though its new version does not match.
-- The client runs the whole request again, and that one sees the new list.
-- @retry 10
-- @expect repeatable-read: stopped 40001 at alice delete then holds

-- @fix for-share
-- Lock what the decision was made on: Bob's change of it waits until the delete is done. From REPEATABLE READ on he is
-- refused then, because the other item that he wants to change is gone, and his retry changes what is left.
-- @retry 10
-- @session alice
\step look
SELECT price FROM items WHERE id = 1 FOR SHARE \gset
\if :price <> 10
  \reject this is not the old price list
\endif
\step delete
DELETE FROM items WHERE price = 20;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob reprice then holds
