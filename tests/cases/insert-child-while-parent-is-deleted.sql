-- @title A reaction is added while its message is deleted, and somebody gets a foreign-key error
-- Formal name: a check before a foreign key (the key keeps the data right, not the user happy).
--
-- Adding a reaction first looks whether the message is there. Deleting a message first deletes the reactions that it
-- sees. A reaction comes in between: the delete of the message waits for it, then finds a reaction that it did not
-- delete, and fails with 23503. In another order it is the reaction that fails.

-- @schema
CREATE TABLE messages (id int PRIMARY KEY);
CREATE TABLE reactions (message_id int NOT NULL REFERENCES messages, person text NOT NULL);

-- @setup
INSERT INTO messages VALUES (1);

-- @transaction react
\step look
SELECT id FROM messages WHERE id = 1 \gset
\if :id IS NULL
  \reject the message is gone
\endif
\step insert
INSERT INTO reactions VALUES (1, 'anna');

-- @transaction remove
\step children
DELETE FROM reactions WHERE message_id = 1;
\step parent
DELETE FROM messages WHERE id = 1;

-- @session anna:   react
-- @session author: remove
-- @order anna look, anna insert, author children, author parent, anna commit, author commit

-- @check nobody is sent away with a foreign-key error
SELECT NOT EXISTS (SELECT 1 FROM isolab_told WHERE told IN ('failed', 'gave up') AND sqlstate = '23503');

-- @expect read-committed, repeatable-read: happens 23503 at author parent
-- @expect serializable: stopped 40001 at author parent

-- @fix key-share
-- Not enough: the reaction locks the message, and the delete still does not look again for reactions.
-- @retry 10
-- @transaction react
\step look
SELECT id FROM messages WHERE id = 1 FOR KEY SHARE \gset
\if :id IS NULL
  \reject the message is gone
\endif
\step insert
INSERT INTO reactions VALUES (1, 'anna');
-- @expect read-committed, repeatable-read: happens 23503 at author parent
-- @expect serializable: stopped 40001 at author parent then holds

-- @fix both-lock
-- Both lock the message first, so that the delete looks for reactions when no new one can come. At REPEATABLE READ its
-- snapshot is from before the wait, and 23503 has to be retried as well.
-- @retry 10 also 23503
-- @transaction react
\step look
SELECT id FROM messages WHERE id = 1 FOR KEY SHARE \gset
\if :id IS NULL
  \reject the message is gone
\endif
\step insert
INSERT INTO reactions VALUES (1, 'anna');
-- @transaction remove
\step lock
SELECT FROM messages WHERE id = 1 FOR UPDATE;
\step children
DELETE FROM reactions WHERE message_id = 1;
\step parent
DELETE FROM messages WHERE id = 1;
-- @order anna look, anna insert, author lock, anna commit, author children, author parent, author commit
-- @expect read-committed: waits
-- @expect repeatable-read: stopped 23503 at author parent then holds
-- @expect serializable: stopped 40001 at author parent then holds
