-- What a buyer agreed to before the order was made: the statement by its id, the exact text by its hash and language.
create table order_consents (
  order_id text collate "C" not null references orders,
  text_id text collate "C" not null check (text_id ~ '^[a-z]+-[0-9]+$'),
  sha256 bytea not null check (octet_length(sha256) = 32),
  locale text collate "C" not null check (length(locale) between 2 and 20),
  agreed_at timestamptz not null default now(),
  primary key (order_id, text_id)
);
create trigger order_consents_append_only before update or delete on order_consents
  for each row execute function refuse_change();
