-- How a seller's pages and mails look to buyers: {accent, logoId, websiteUrl, termsUrl, privacyUrl, refundPolicy}, all optional.
alter table sellers add column brand jsonb not null default '{}'
  check (jsonb_typeof(brand) = 'object' and pg_column_size(brand) < 16000);

-- Logos, small and in one size. A replaced one stays for a while, because mails show it.
create table logos (
  id text collate "C" primary key check (id ~ '^logo_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  webp bytea not null check (length(webp) between 1 and 200000),
  created_at timestamptz not null default now()
);
create index logos_seller on logos (seller_id, id desc);
