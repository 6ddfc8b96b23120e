-- @title Write skew

-- @session a
\try
SELECT 1;
\endtry
\try
SELECT 1;
\on
\on 2350
\on 23505, abcde
\endtry
