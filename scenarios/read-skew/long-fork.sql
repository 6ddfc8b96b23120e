-- @title Long fork: two readers see two posts in opposite orders
-- Formal name: long fork, G-nonadjacent.
--
-- Alice and Bob each publish a post. Carol and Dave each look at both, one after the other. Carol sees Alice's post and
-- not Bob's, Dave sees Bob's and not Alice's. Carol will swear that Alice was first, Dave that Bob was, and no order of
-- the two posts makes both of them right.

-- @schema
CREATE TABLE posts (author text PRIMARY KEY, published boolean NOT NULL);

-- @setup
INSERT INTO posts (author, published) VALUES ('alice', false), ('bob', false);

-- @transaction publish(who)
\step publish
UPDATE posts SET published = true WHERE author = :who;

-- @transaction read(first, second)
\step first
SELECT published AS first FROM posts WHERE author = :first \gset
\step second
SELECT published AS second FROM posts WHERE author = :second \gset

-- @session carol: read('bob', 'alice')
-- @session dave:  read('alice', 'bob')
-- @session alice: publish('alice')
-- @session bob:   publish('bob')
-- @order carol first, dave first, alice commit, bob commit, carol second, dave second, carol commit, dave commit

-- @check the readers agree on which post came first
SELECT NOT (seen('carol', 'second', 'second')::boolean AND NOT seen('carol', 'first', 'first')::boolean
        AND seen('dave', 'second', 'second')::boolean AND NOT seen('dave', 'first', 'first')::boolean);

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented

-- @fix one-statement
-- Each reader reads both posts in one statement and so sees one moment. On one PostgreSQL server the moments of all
-- readers stand in one order. (With replicas they need not.)
-- Catalogue: one statement per reader
-- @transaction read(first, second)
\step both
SELECT bool_or(published) FILTER (WHERE author = 'alice') AS alice,
       bool_or(published) FILTER (WHERE author = 'bob')   AS bob
  FROM posts \gset
-- @order alice publish, bob publish, alice commit, carol both, bob commit, dave both, carol commit, dave commit
-- @check the readers agree on which post came first
SELECT NOT (seen('carol', 'both', 'alice')::boolean AND NOT seen('carol', 'both', 'bob')::boolean
        AND seen('dave', 'both', 'bob')::boolean AND NOT seen('dave', 'both', 'alice')::boolean);
-- @expect all: prevented
