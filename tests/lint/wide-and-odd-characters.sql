-- @title Write skew

-- @session zoë
	SELECT 'größe', :größe, '🦀', :wert;
-- @order zoe 1
