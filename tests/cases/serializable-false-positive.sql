-- @title SERIALIZABLE sends a player away because of somebody else's purse
-- Formal name: SSI false positive (predicate locks follow the access path).
--
-- Two players each spend from their own purses and check that 900 coins are left. They share no row. But without an
-- index each sum scans the whole table, and counts as a read of the other's row: the second to commit gets 40001.

-- @schema
CREATE TABLE purses (
  id    int  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner int  NOT NULL,
  pot   text NOT NULL,
  coins int  NOT NULL
);

-- @setup
INSERT INTO purses (owner, pot, coins) VALUES (1, 'main', 600), (1, 'spare', 600), (2, 'main', 600), (2, 'spare', 600);

-- @transaction spend(player)
\step update
UPDATE purses SET coins = coins - 120 WHERE owner = :player AND pot = 'main';
\step sum
SELECT sum(coins) AS left_over FROM purses WHERE owner = :player \gset
\if :left_over < 900
  \rollback too little would be left
\endif

-- @session anna: spend(1)
-- @session ben:  spend(2)
-- @order anna update, ben update, anna sum, ben sum, anna commit, ben commit

-- @check every player keeps 900 coins
SELECT bool_and(coins >= 900) FROM (SELECT sum(coins) AS coins FROM purses WHERE owner <= 2 GROUP BY owner) AS players;

-- @check nobody is sent away because of somebody else's purse
SELECT NOT raised('40001');

-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: happens 40001 at ben commit

-- @fix index-and-room
-- An index on the owner, a table that is large enough for it to be used, and pages with room, so that an UPDATE need
-- not touch the index: each player reads and writes only what is theirs.
-- @schema
CREATE INDEX ON purses (owner);
ALTER TABLE purses SET (fillfactor = 50);
-- @setup
INSERT INTO purses (owner, pot, coins) SELECT 3 + n, 'main', 600 FROM generate_series(1, 5000) n;
ANALYZE purses;
-- @expect all: prevented

-- @variant inserts-on-one-index-page
-- With the index, but spending inserts a row: the new entry goes to the page of the index that the other player has
-- read.
-- @schema
CREATE INDEX ON purses (owner);
-- @setup
INSERT INTO purses (owner, pot, coins) SELECT 3 + n, 'main', 600 FROM generate_series(1, 5000) n;
ANALYZE purses;
-- @transaction spend(player)
\step sum
SELECT sum(coins) AS left_over FROM purses WHERE owner = :player \gset
\if :left_over - 120 < 900
  \reject too little would be left
\endif
\step insert
INSERT INTO purses (owner, pot, coins) VALUES (:player, 'spent', -120);
-- @order anna sum, ben sum, anna insert, anna commit, ben insert, ben commit
-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: happens 40001 at ben insert
