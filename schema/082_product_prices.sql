-- Further prices of a product, each in a currency of its own. The product's row keeps the default price, so that an order in the default
-- currency reads one row, and an earlier program still sells. The column names mean what they mean there: with pay_what_you_want,
-- price_minor is the lowest price.
create table product_prices (
  product_id text collate "C" not null references products,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  price_minor bigint not null check (price_minor between 0 and 999999999999),
  suggested_minor bigint check (suggested_minor between greatest(price_minor, 1) and 999999999999),
  -- Its place among the further prices, as the seller sent them.
  position smallint not null check (position between 1 and 100),
  primary key (product_id, currency)
);
