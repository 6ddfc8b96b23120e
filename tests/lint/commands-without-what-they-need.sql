-- @title Write skew

-- @session a
SELECT 1;
\set
\set x
\set a-b 1
\if
\endif
\step
\step two words
\step a.b
\sleep
\sleep 20
\sleep fast ms
\effect
\connect
\crash now
\while ;
\endwhile
