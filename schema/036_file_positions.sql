-- The seller decides the order of a product's files for buyers. Null: after those with a position, in the order of upload.
alter table files add column position integer check (position > 0);
