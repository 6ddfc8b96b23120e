-- @title Double redeem: a coupon for one use is used twice
-- Formal name: P4 lost update on a flag.
--
-- A coupon is good for one order. Alice and Bob have the same code and check out in the same second. Both requests find
-- it unused, both mark it as used, and both grant the discount. Marking it twice changes nothing, so no trace of the
-- second one is left in the coupon; only the two discounts show it.

-- @schema
CREATE TABLE coupons (code text PRIMARY KEY, used boolean NOT NULL DEFAULT false);
CREATE TABLE discounts (who text NOT NULL);

-- @setup
INSERT INTO coupons (code) VALUES ('SAVE20');

-- @transaction redeem(who)
\step check
SELECT used FROM coupons WHERE code = 'SAVE20' \gset
\if :used
  \reject the coupon has been used
\endif
\step mark
UPDATE coupons SET used = true WHERE code = 'SAVE20';
\step grant
INSERT INTO discounts (who) VALUES (:who);

-- @session alice: redeem('alice')
-- @session bob:   redeem('bob')
-- @order alice check, bob check, alice grant, bob mark, alice commit, bob grant, bob commit

-- @check the coupon gives one discount
SELECT count(*) <= 1 FROM discounts;

-- @measure discounts
SELECT count(*) FROM discounts;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at bob mark

-- @fix conditional
-- Mark the coupon only if it is unused, and grant only if a row was marked.
-- Catalogue: conditional UPDATE, grant only if 1 row
-- @retry 10
-- @transaction redeem(who)
\step mark
UPDATE coupons SET used = true WHERE code = 'SAVE20' AND NOT used;
\if :ROW_COUNT = 0
  \rollback the coupon has been used
\endif
\step grant
INSERT INTO discounts (who) VALUES (:who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob mark then holds

-- @fix for-update
-- The check takes the coupon's lock, so the second check waits and finds it used.
-- Catalogue: FOR UPDATE on the check
-- @retry 10
-- @transaction redeem(who)
\step check
SELECT used FROM coupons WHERE code = 'SAVE20' FOR UPDATE \gset
\if :used
  \reject the coupon has been used
\endif
\step mark
UPDATE coupons SET used = true WHERE code = 'SAVE20';
\step grant
INSERT INTO discounts (who) VALUES (:who);
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at bob check then holds
