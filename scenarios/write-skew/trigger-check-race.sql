-- @title A business rule in a trigger lets two subscriptions through
-- Formal name: G2 write skew over a predicate (a rule enforced by a trigger).
--
-- A customer may have one active subscription. To be safe from forgetful applications the rule stands in a BEFORE
-- INSERT trigger. Two requests come at once, a double click on "subscribe". Each trigger looks for an active
-- subscription, sees none, since the other's is not committed, and lets its row in. The customer is charged twice a
-- month.

-- @schema
CREATE TABLE subscriptions (customer_id int NOT NULL, active boolean NOT NULL);
CREATE FUNCTION one_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM subscriptions WHERE customer_id = NEW.customer_id AND active) THEN
    RAISE EXCEPTION 'customer % has a subscription already', NEW.customer_id;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER one_subscription BEFORE INSERT ON subscriptions
  FOR EACH ROW EXECUTE FUNCTION one_subscription();

-- @transaction subscribe
\step insert
INSERT INTO subscriptions (customer_id, active) VALUES (1, true);

-- @session alice: subscribe
-- @session bob:   subscribe
-- @order alice insert, bob insert, alice commit, bob commit

-- @check a customer has one active subscription
SELECT count(*) <= 1 FROM subscriptions WHERE customer_id = 1 AND active;

-- @measure subscriptions
SELECT count(*) FROM subscriptions WHERE customer_id = 1 AND active;

-- @expect read-committed, repeatable-read: happens
-- @expect serializable: stopped 40001 at bob commit

-- @fix unique-index
-- A unique index over the active rows refuses the second one: 23505, at SERIALIZABLE 40001. A retry then meets the
-- trigger and gets its own message, P0001.
-- Catalogue: partial unique index (23505)
-- @retry 10
-- @schema
CREATE UNIQUE INDEX ON subscriptions (customer_id) WHERE active;
-- @expect read-committed, repeatable-read: stopped 23505 at bob insert
-- @expect serializable: stopped 40001 at bob insert then holds

-- @fix lock-in-trigger
-- The trigger takes a lock on the customer's number before it looks. At READ COMMITTED each query in it has a snapshot
-- of its own, so the waiter sees the row and refuses. At REPEATABLE READ the snapshot is older than the wait: it fails,
-- and nothing says so.
-- Catalogue: advisory xact lock inside the trigger
-- @requires database
-- @retry 10
-- @schema
CREATE OR REPLACE FUNCTION one_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(NEW.customer_id);
  IF EXISTS (SELECT FROM subscriptions WHERE customer_id = NEW.customer_id AND active) THEN
    RAISE EXCEPTION 'customer % has a subscription already', NEW.customer_id;
  END IF;
  RETURN NEW;
END
$$;
-- @expect read-committed: stopped P0001 at bob insert
-- @expect repeatable-read: happens
-- @expect serializable: stopped 40001 at bob insert then holds
