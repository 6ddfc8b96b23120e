SELECT 1;
-- a comment
