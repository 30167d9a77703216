-- The language in which the buyer read the page, for the mails about the order. Null: English, and orders from before.
alter table orders add column locale text collate "C";
