-- @title

-- @schema
-- @setup
-- only a comment
-- @transaction t
-- @session a:
-- @session b
-- @finally c
