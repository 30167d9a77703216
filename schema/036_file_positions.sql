-- The seller decides the order of a product's files, and buyers see it. Null: after those that have a position, in the order they came.
alter table files add column position integer check (position > 0);
