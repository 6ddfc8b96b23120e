-- @title ORDER BY with FOR UPDATE returns the rows out of order
-- Formal name: EvalPlanQual after the sort.
--
-- A call centre lists the open calls by priority and locks them. While the list waits for a row, the call's priority
-- is lowered from 1 to 9. At READ COMMITTED the waiting query goes on with the row's new version, but it had sorted
-- before it waited: the call with priority 9 comes first.

-- @schema
CREATE TABLE calls (id int PRIMARY KEY, priority int NOT NULL);

-- @setup
INSERT INTO calls VALUES (1, 1), (2, 2);

-- @session change
\step update
UPDATE calls SET priority = 9 WHERE id = 1;

-- @session agent
\step list
SELECT id, priority FROM calls ORDER BY priority FOR UPDATE;

-- @order change update, agent list, change commit, agent commit

-- @check the calls come in the order of their priority
SELECT NOT EXISTS (
  SELECT 1
    FROM isolab_read a JOIN isolab_read b USING (session, attempt, step)
   WHERE session = 'agent' AND step = 'list' AND a.committed AND b.committed
     AND a.row_no < b.row_no AND (a.row ->> 'priority')::int > (b.row ->> 'priority')::int);

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at agent list

-- @fix sort-outside
-- The inner query locks, and the outer one sorts what was locked. With a LIMIT it is no cure: which rows are locked is
-- decided before the wait.
-- Catalogue: lock in a subquery, sort outside
-- @retry 10
-- @session agent
\step list
SELECT id, priority FROM (SELECT id, priority FROM calls FOR UPDATE) AS locked ORDER BY priority;
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at agent list then holds
