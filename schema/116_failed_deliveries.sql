-- How many deliveries of an endpoint have failed, which its seller reads with each list of endpoints. Few have, so the index stays small, and
-- without it the count would read all deliveries of 30 days.
create index webhook_deliveries_failed on webhook_deliveries (endpoint_id) where state = 'failed';
