-- The list of endpoints counts the failed deliveries of each. Few deliveries fail, so the index stays small, and without it the count would
-- read all deliveries of 30 days.
create index webhook_deliveries_failed on webhook_deliveries (endpoint_id) where state = 'failed';
