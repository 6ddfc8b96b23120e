-- @title Write skew

-- @session a
SELECT 1;
--@check c
SELECT true;
  -- @check d
SELECT true;
--  @Expect all: holds
-- check e
