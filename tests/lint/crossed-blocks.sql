-- @title Write skew

-- @session a
\if true
SELECT 1;
\while false
SELECT 2;
\endif
\endwhile
\endif
\endtry
\on 23505
\else
