-- A price may be 0, or the lowest price that a buyer may choose.
alter table products drop constraint products_price_minor_check;
alter table products
  add constraint products_price_minor_check check (price_minor between 0 and 999999999999),
  -- The price is then the lowest one, and the buyer chooses.
  add column pay_what_you_want boolean not null default false,
  add column suggested_minor bigint,
  add constraint products_suggested_minor_check check (
    suggested_minor is null
    or (pay_what_you_want and suggested_minor between greatest(price_minor, 1) and 999999999999)),
  -- Grows with every change, so that an edit of an older version is refused and overwrites nothing.
  add column version integer not null default 1 check (version > 0);
