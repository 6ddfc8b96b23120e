-- @title Dirty write: the car goes to one buyer, the invoice to the other
-- Formal name: P0 dirty write, G0 write cycle.
--
-- Alice and Bob buy the same car in the same second. Each purchase writes its buyer into the listing and then into the
-- invoice. If Bob could overwrite what Alice has not committed yet, Bob might end up with the car and Alice with the
-- invoice. PostgreSQL lets this happen at no level: who writes a row keeps its lock until COMMIT.

-- @schema
CREATE TABLE listings (id int PRIMARY KEY, buyer text);
CREATE TABLE invoices (id int PRIMARY KEY, buyer text);

-- @setup
INSERT INTO listings (id) VALUES (1);
INSERT INTO invoices (id) VALUES (1);

-- @transaction buy(who)
\step listing
UPDATE listings SET buyer = :who WHERE id = 1;
\step invoice
UPDATE invoices SET buyer = :who WHERE id = 1;

-- @session alice: buy('alice')
-- @session bob:   buy('bob')
-- @order alice listing, bob listing, alice invoice, alice commit, bob invoice, bob commit

-- @check the buyer of the car gets the invoice
SELECT listings.buyer = invoices.buyer FROM listings JOIN invoices USING (id);

-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob listing
