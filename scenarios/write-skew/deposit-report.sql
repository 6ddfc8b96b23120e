-- @title A receipt arrives in a batch that has been closed and reported
-- Formal name: G2 with three transactions (deposit report).
--
-- Receipts are booked into the current batch. At noon Bob closes the batch by raising its number, and the report for
-- the closed one is printed: $100. But Alice had read the old number just before and books her $50 into it just after.
-- Each of the three was right by itself, and the report is wrong for good.

-- @schema
CREATE TABLE control (id int PRIMARY KEY, batch int NOT NULL);
CREATE TABLE receipts (batch int NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO control (id, batch) VALUES (1, 1);
INSERT INTO receipts (batch, amount) VALUES (1, 100);

-- @session alice
\step batch
SELECT batch FROM control WHERE id = 1 \gset
\step receipt
INSERT INTO receipts (batch, amount) VALUES (:batch, 50);

-- @session bob
\step close
UPDATE control SET batch = batch + 1 WHERE id = 1;

-- @session report
BEGIN READ ONLY;
\step batch
SELECT batch - 1 AS closed FROM control WHERE id = 1 \gset
\step sum
SELECT coalesce(sum(amount), 0) AS reported FROM receipts WHERE batch = :closed \gset
\echo batch :closed is closed with $:reported
COMMIT;

-- @order alice batch, bob commit, report commit, alice receipt, alice commit

-- @check a closed batch keeps the sum that was reported
SELECT sum(amount) = seen('report', 'sum', 'reported')::int
  FROM receipts WHERE batch = seen('report', 'batch', 'closed')::int;

-- @measure reported in $
SELECT seen('report', 'sum', 'reported')::int;

-- @measure batch in $
SELECT sum(amount) FROM receipts WHERE batch = 1;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at alice receipt

-- @fix for-share
-- Whoever books into the batch locks its number, and the batch cannot be closed until the receipt is in.
-- Catalogue: FOR SHARE on the control row
-- @session alice
\step batch
SELECT batch FROM control WHERE id = 1 FOR SHARE \gset
\step receipt
INSERT INTO receipts (batch, amount) VALUES (:batch, 50);
-- @expect all: waits

-- @fix read-only-deferrable
-- At SERIALIZABLE the report waits for a snapshot that no running transaction can spoil, so for Alice's COMMIT. Below
-- it DEFERRABLE does nothing at all, and the report is as wrong as before.
-- Catalogue: report as READ ONLY DEFERRABLE (SERIALIZABLE only)
-- @session report
BEGIN READ ONLY DEFERRABLE;
\step batch
SELECT batch - 1 AS closed FROM control WHERE id = 1 \gset
\step sum
SELECT coalesce(sum(amount), 0) AS reported FROM receipts WHERE batch = :closed \gset
COMMIT;
-- @expect read-committed, repeatable-read: happens
-- @expect serializable: waits
