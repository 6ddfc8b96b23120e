-- @title One customer uses a coupon twice, from two tabs
-- Formal name: G2 predicate write skew (check for absence, then insert).
--
-- Each use of a coupon is a row. The checkout looks for an earlier use by this customer, finds none, and inserts one.
-- The customer has two tabs open and pays in both: both look, both find nothing, both insert. Nothing in the schema
-- says no.

-- @schema
CREATE TABLE coupons (id int PRIMARY KEY, touched int NOT NULL DEFAULT 0);
CREATE TABLE coupon_uses (coupon_id int NOT NULL, customer_id int NOT NULL);

-- @setup
INSERT INTO coupons VALUES (7);

-- @transaction redeem
\step check
SELECT count(*) AS uses FROM coupon_uses WHERE coupon_id = 7 AND customer_id = 42 \gset
\if :uses > 0
  \reject used before
\endif
\step use
INSERT INTO coupon_uses VALUES (7, 42);

-- @session tab1: redeem
-- @session tab2: redeem
-- @order tab1 check, tab2 check, tab1 use, tab1 commit, tab2 use, tab2 commit

-- @check one use for each customer
SELECT count(*) <= 1 FROM coupon_uses WHERE coupon_id = 7 AND customer_id = 42;

-- @measure uses
SELECT count(*) FROM coupon_uses;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at tab2 use

-- @fix lock-coupon
-- Locks the coupon's row before it looks. That holds at READ COMMITTED; at REPEATABLE READ the locking SELECT takes
-- the snapshot before it waits, and what the other tab has stored meanwhile is not in it.
-- @retry 10
-- @transaction redeem
\step lock
SELECT FROM coupons WHERE id = 7 FOR UPDATE;
\step check
SELECT count(*) AS uses FROM coupon_uses WHERE coupon_id = 7 AND customer_id = 42 \gset
\if :uses > 0
  \reject used before
\endif
\step use
INSERT INTO coupon_uses VALUES (7, 42);
-- @order tab1 lock, tab2 lock, tab1 check, tab1 use, tab1 commit, tab2 check, tab2 use, tab2 commit
-- @expect read-committed: waits
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at tab2 use then holds

-- @fix touch-coupon
-- Writes the coupon's row in place of locking it: from REPEATABLE READ on the one who waited gets 40001.
-- @retry 10
-- @transaction redeem
\step touch
UPDATE coupons SET touched = touched + 1 WHERE id = 7;
\step check
SELECT count(*) AS uses FROM coupon_uses WHERE coupon_id = 7 AND customer_id = 42 \gset
\if :uses > 0
  \rollback used before
\endif
\step use
INSERT INTO coupon_uses VALUES (7, 42);
-- @order tab1 touch, tab2 touch, tab1 check, tab1 use, tab1 commit, tab2 check, tab2 use, tab2 commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at tab2 touch then holds

-- @fix unique
-- The schema says it, and the client turns the unique violation into the answer that the check gives.
-- @retry 10
-- @schema
ALTER TABLE coupon_uses ADD UNIQUE (coupon_id, customer_id);
-- @transaction redeem
\step check
SELECT count(*) AS uses FROM coupon_uses WHERE coupon_id = 7 AND customer_id = 42 \gset
\if :uses > 0
  \reject used before
\endif
\step use
\try
  INSERT INTO coupon_uses VALUES (7, 42);
\on 23505
  \rollback used before
\endtry
-- @expect read-committed, repeatable-read: prevented
-- @expect serializable: stopped 40001 at tab2 use then holds
