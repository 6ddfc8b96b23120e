-- @title The last item is sold twice

-- @transaction buy
\set stock (SELECT stock FROM items WHERE name = 'umbrella')
\if (SELECT count(*) FROM sales) > 0 AND extract(epoch FROM now()) > 1
  \reject sold out
\endif
\while EXISTS (SELECT FROM queue)
UPDATE items SET stock = :stock - 1;
\endwhile

-- @session alice: buy
-- @check one sale
SELECT count(*) = 1 FROM sales;
