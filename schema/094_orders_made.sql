-- The operator's overview counts all orders of a week, a month or a year, whoever sold them. By the sellers' index it read each page of the
-- table once for every seller with an order there: 3.3 seconds of processor time for a year of 1,000,000 orders, which is above the
-- limit of a statement on a busy machine. By this index it takes 1.1. Orders are stored in the order in which they are made, so the
-- least and the most of each 16 pages find a period. The index has 88 kB for 1,000,000 orders, and a checkout changes it only when new
-- pages are summarized.
create index orders_made on orders using brin (created_at) with (pages_per_range = 16, autosummarize = on);
