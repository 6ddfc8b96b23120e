-- @title A voucher for one order is used for two
-- Formal name: P4 lost update (a stale guard).
--
-- The checkout reads how often the voucher was used and what its limit is, and later counts it up with
-- "used = used + 1", which looks safe. The count is; the comparison is not. Two customers compare with the same old
-- number, and both orders get the discount.

-- @schema
CREATE TABLE vouchers (code text PRIMARY KEY, used int NOT NULL, usage_limit int NOT NULL);
CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer text NOT NULL, voucher text NOT NULL);

-- @setup
INSERT INTO vouchers VALUES ('WELCOME', 0, 1);

-- @transaction checkout(who)
\step check
SELECT used, usage_limit FROM vouchers WHERE code = 'WELCOME' \gset
\if :used >= :usage_limit
  \reject the voucher is used up
\endif
\step redeem
UPDATE vouchers SET used = used + 1 WHERE code = 'WELCOME';
INSERT INTO orders (customer, voucher) VALUES (:who, 'WELCOME');

-- @session alice: checkout('alice')
-- @session bob:   checkout('bob')
-- @order alice check, bob check, alice redeem, alice commit, bob redeem, bob commit

-- @check the voucher is used within its limit, once for each order
SELECT used <= usage_limit AND used = (SELECT count(*) FROM orders) FROM vouchers;

-- @measure orders
SELECT count(*) FROM orders;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob redeem

-- @fix for-update
-- The check locks the voucher, so the second customer checks when the first is done.
-- @retry 10
-- @transaction checkout(who)
\step check
SELECT used, usage_limit FROM vouchers WHERE code = 'WELCOME' FOR UPDATE \gset
\if :used >= :usage_limit
  \reject the voucher is used up
\endif
\step redeem
UPDATE vouchers SET used = used + 1 WHERE code = 'WELCOME';
INSERT INTO orders (customer, voucher) VALUES (:who, 'WELCOME');
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob check then holds

-- @fix conditional-update
-- The limit stands in the WHERE of the UPDATE that counts.
-- @retry 10
-- @transaction checkout(who)
\step redeem
UPDATE vouchers SET used = used + 1 WHERE code = 'WELCOME' AND used < usage_limit;
\if :ROW_COUNT = 0
  \rollback the voucher is used up
\endif
INSERT INTO orders (customer, voucher) VALUES (:who, 'WELCOME');
-- @order alice redeem, bob redeem, alice commit, bob commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob redeem then holds

-- @fix level-and-retry at repeatable-read, serializable
-- From REPEATABLE READ on PostgreSQL refuses the second write; the client runs the checkout again.
-- @retry 10
-- @expect repeatable-read, serializable: stopped 40001 at bob redeem then holds
