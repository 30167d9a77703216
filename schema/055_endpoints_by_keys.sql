-- The key that made the endpoint, or that changed its address last. Null: the owner did, in a browser. An endpoint outlives its key, so
-- that no event is lost; the owner sees whose it is and can remove it. There is no foreign key: keys that ended long ago are removed.
alter table webhook_endpoints add column made_by_key text collate "C";
