-- Whose backup a place holds, where it differs from the id of the storage: "npm run adopt -- storage" changes that one, and the backup stays
-- the same service's. Null: it is the id of the storage.
alter table installation add column backup_id text collate "C";
