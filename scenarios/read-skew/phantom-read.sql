-- @title Phantom read: the bank is sent money for two salaries, three are paid
-- Formal name: P3 phantom, A3, PMP predicate-many-preceders.
--
-- Payroll counts the staff to order the money, then writes a payslip for each of them. Between the two Bob hires Carol.
-- The second query runs over the same condition and finds a row that was not there before: money for two salaries was
-- ordered, and there are three payslips.

-- @schema
CREATE TABLE staff (name text PRIMARY KEY, active boolean NOT NULL);
CREATE TABLE payslips (name text PRIMARY KEY);

-- @setup
INSERT INTO staff (name, active) VALUES ('alice', true), ('bob', true);

-- @session payroll
\step count
SELECT count(*) AS counted FROM staff WHERE active \gset
\echo money is ordered for :counted salaries
\step pay
INSERT INTO payslips (name) SELECT name FROM staff WHERE active;
\echo :ROW_COUNT payslips are written

-- @session bob
\step hire
INSERT INTO staff (name, active) VALUES ('carol', true);

-- @order payroll count, bob hire, bob commit, payroll pay, payroll commit

-- @check as many payslips as salaries were counted
SELECT count(*) = seen('payroll', 'count', 'counted')::int FROM payslips;

-- @measure counted
SELECT seen('payroll', 'count', 'counted')::int;

-- @measure paid
SELECT count(*) FROM payslips;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented

-- @fix for-share
-- Does not help at READ COMMITTED: it locks the two rows that are there, and Carol's is a new one. From REPEATABLE READ
-- on the snapshot keeps her out, with the lock or without.
-- Catalogue: FOR SHARE on the rows read (does not help)
-- @session payroll
\step count
SELECT count(*) AS counted FROM (SELECT 1 FROM staff WHERE active FOR SHARE) AS locked \gset
\step pay
INSERT INTO payslips (name) SELECT name FROM staff WHERE active;
-- @expect read-committed: happens
-- @expect repeatable-read, serializable: prevented

-- @fix lock-table
-- Nobody can add, change or delete staff until payroll is done. It holds at every level, and all writers of the table
-- wait.
-- Catalogue: LOCK TABLE SHARE first
-- @session payroll
\step count
LOCK TABLE staff IN SHARE MODE;
SELECT count(*) AS counted FROM staff WHERE active \gset
\step pay
INSERT INTO payslips (name) SELECT name FROM staff WHERE active;
-- @expect all: waits
