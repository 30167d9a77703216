-- Sellers get mails about their sales: about each one, once a day, or not at all.
alter table sellers
  add column sale_mails text collate "C" not null default 'each' check (sale_mails in ('each', 'daily', 'off'));

-- Each sale waits here, from the transaction that makes its order paid to the one that enqueues the mail about it, which removes
-- the row. So every sale is in exactly one mail, and sales that pile up are in one mail together. The seller is not a foreign key,
-- because all sales of a busy shop would lock that one row.
create table untold_sales (
  order_id text collate "C" primary key references orders,
  seller_id text collate "C" not null,
  -- Mails about free orders go out once a day, whatever the seller chose for sales.
  is_free boolean not null,
  sold_at timestamptz not null default now()
);
create index untold_sales_seller on untold_sales (seller_id, sold_at);
