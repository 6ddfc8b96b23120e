-- @title An invoice number is missing
-- Formal name: sequences are not transactional.
--
-- Invoice numbers come from an identity column and must have no gap. Alice's payment is refused and her transaction
-- rolls back, but the number that she had drawn stays drawn: a sequence never waits and never takes back. Bob's
-- invoice is number 2, and there is no number 1.

-- @schema
CREATE TABLE invoices (number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, buyer text NOT NULL);
CREATE TABLE last_number (id int PRIMARY KEY, number int NOT NULL);

-- @setup
INSERT INTO last_number VALUES (1, 0);

-- @transaction bill(buyer, refused)
\step insert
INSERT INTO invoices (buyer) VALUES (:buyer);
\if :refused
  \rollback payment refused
\endif

-- @session alice: bill('alice', true)
-- @session bob:   bill('bob', false)
-- @order alice insert, bob insert, alice commit, bob commit

-- @check the numbers have no gap
SELECT max(number) = count(*) FROM invoices;

-- @measure highest
SELECT max(number) FROM invoices;

-- @measure invoices
SELECT count(*) FROM invoices;

-- @expect all: happens

-- @fix counter-row
-- A row of a table is counted up instead, and a rollback takes the number back. Everybody who bills waits for the one
-- before, until it commits or rolls back.
-- Catalogue: counter row UPDATE ... RETURNING (writers queue)
-- @retry 10
-- @transaction bill(buyer, refused)
\step insert
UPDATE last_number SET number = number + 1 WHERE id = 1 RETURNING number \gset
INSERT INTO invoices (number, buyer) OVERRIDING SYSTEM VALUE VALUES (:number, :buyer);
\if :refused
  \rollback payment refused
\endif
-- @expect all: waits
