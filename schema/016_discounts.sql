-- Discount codes. A code belongs to one seller, and can be created again after it was deleted.
create table discounts (
  id text collate "C" primary key check (id ~ '^dsc_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  -- Null: all of the seller's products.
  product_id text collate "C",
  -- As the seller typed it; compared in upper case.
  code text collate "C" not null check (code ~ '^[A-Za-z0-9-]{3,40}$'),
  percent_off integer check (percent_off between 1 and 100),
  amount_off_minor bigint check (amount_off_minor between 1 and 999999999999),
  currency text collate "C" check (currency ~ '^[A-Z]{3}$'),
  most_uses integer check (most_uses between 1 and 1000000000),
  -- The orders that hold a use: made with the code, and not expired. It can exceed most_uses, because money that comes for an
  -- expired order counts all the same, and most_uses can be lowered.
  uses integer not null default 0 check (uses >= 0),
  starts_at timestamptz,
  expires_at timestamptz,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  foreign key (product_id, seller_id) references products (id, seller_id),
  check ((percent_off is null) <> (amount_off_minor is null)),
  check ((amount_off_minor is null) = (currency is null)),
  check (expires_at > starts_at)
);
create unique index discounts_code on discounts (seller_id, upper(code)) where removed_at is null;
create index discounts_seller on discounts (seller_id, id);

-- The discount of a price: a percentage is rounded down, so only 100 % is the whole price, and an amount is never more than the
-- price.
create function discount_of(list_minor bigint, percent_off integer, amount_off_minor bigint)
returns bigint language sql immutable parallel safe as $$
  select least(list_minor, coalesce(amount_off_minor, list_minor * percent_off / 100))
$$;

-- An order may cost nothing. Then no money moves: it has no payment, and nothing to refund or to dispute.
alter table orders
  drop constraint orders_amount_minor_check,
  add constraint orders_amount_minor_check check (amount_minor between 0 and 999999999999),
  add constraint orders_free_check check (amount_minor > 0 or (state in ('pending', 'paid') and rail is null)),
  -- The discount. The price without the code is both together.
  add column discount_minor bigint not null default 0 check (discount_minor between 0 and 999999999999),
  add column discount_id text collate "C" references discounts,
  -- Whether it counts as a use of its code: false after it has expired, and true again if it was paid all the same.
  add column holds_discount boolean not null default false,
  add constraint orders_discount_check check (discount_id is not null or (discount_minor = 0 and not holds_discount));
create index orders_discount on orders (discount_id) where discount_id is not null;
