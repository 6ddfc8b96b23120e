-- @title Get-or-create created the row twice
-- Formal name: G2 predicate write skew (check for absence, then insert).
--
-- A helper looks a repository up by tenant and title, and creates it if there is none. The pair is meant to be unique,
-- and the schema does not say so. Two requests at once both find none and both create it. From then on every lookup
-- that expects one row fails.

-- @schema
CREATE TABLE repositories (
  id     int  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant int  NOT NULL,
  title  text NOT NULL
);
CREATE TABLE links (person text NOT NULL, repository_id int NOT NULL);

-- @transaction get_or_create(me)
\step get
SELECT id FROM repositories WHERE tenant = 1 AND title = 'docs' \gset
\if :id IS NULL
  \step create
  INSERT INTO repositories (tenant, title) VALUES (1, 'docs') RETURNING id \gset
\endif
\step link
INSERT INTO links VALUES (:me, :id);

-- @session alice: get_or_create('alice')
-- @session bob:   get_or_create('bob')
-- @order alice get, bob get, alice create, alice link, alice commit, bob create, bob link, bob commit

-- @check the repository is there once
SELECT count(*) <= 1 FROM repositories WHERE tenant = 1 AND title = 'docs';

-- @measure repositories
SELECT count(*) FROM repositories;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob create

-- @fix unique-and-second-lookup
-- The schema says it, the INSERT lets a duplicate pass, and a second lookup finds the row of the other request.
-- @retry 10
-- @schema
ALTER TABLE repositories ADD UNIQUE (tenant, title);
-- @transaction get_or_create(me)
\step get
SELECT id FROM repositories WHERE tenant = 1 AND title = 'docs' \gset
\if :id IS NULL
  \step create
  INSERT INTO repositories (tenant, title) VALUES (1, 'docs') ON CONFLICT DO NOTHING RETURNING id \gset
  \if :id IS NULL
    SELECT id FROM repositories WHERE tenant = 1 AND title = 'docs' \gset
  \endif
\endif
\step link
INSERT INTO links VALUES (:me, :id);
-- @expect read-committed: prevented
-- @expect repeatable-read, serializable: stopped 40001 at bob create then holds

-- @fix serializable at serializable
-- PostgreSQL refuses one of the two; its retry finds the row.
-- @retry 10
-- @expect serializable: stopped 40001 at bob create then holds
