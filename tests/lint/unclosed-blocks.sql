-- @title Write skew

-- @transaction t
\if true
SELECT 1;
\while false
SELECT 2;

-- @transaction u
\try
SELECT 1;
\on 23505
SELECT 2;

-- @session a: t; u
