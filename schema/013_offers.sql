-- A price may be nothing, or the least that a buyer may give.
alter table products drop constraint products_price_minor_check;
alter table products
  add constraint products_price_minor_check check (price_minor between 0 and 999999999999),
  -- The price is then the least, and the buyer says how much.
  add column pay_what_you_want boolean not null default false,
  add column suggested_minor bigint,
  add constraint products_suggested_minor_check check (
    suggested_minor is null
    or (pay_what_you_want and suggested_minor between greatest(price_minor, 1) and 999999999999)),
  -- One more with every change: who edits an older one is told, and overwrites nothing.
  add column version integer not null default 1 check (version > 0);
