create table mailbox_codes (
  email text primary key check (email = lower(btrim(email)) and length(email) between 3 and 254),
  id uuid not null unique,
  purpose text collate "C" not null check (purpose in ('charge')),
  browser_hash bytea not null unique check (octet_length(browser_hash) = 32),
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  used_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index mailbox_codes_expires on mailbox_codes (expires_at);
create index orders_email on orders (email, created_at desc);
