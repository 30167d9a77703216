-- What a code with a fixed discount takes off in further currencies. The code's row keeps the first amount. Rows never change, because
-- buyers have read what a code gives.
create table discount_amounts (
  discount_id text collate "C" not null references discounts,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  amount_off_minor bigint not null check (amount_off_minor between 1 and 999999999999),
  primary key (discount_id, currency)
);
create trigger discount_amounts_append_only before update or delete on discount_amounts
  for each row execute function refuse_change();
