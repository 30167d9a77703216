alter table sellers
  add column email_proven_at timestamptz,
  add column disabled_at timestamptz;
create table passwords (
  seller_id text collate "C" primary key references sellers on delete cascade,
  hash text collate "C" not null check (hash like '$argon2id$%'),
  set_at timestamptz not null default now()
);
create table identities (
  id text collate "C" primary key check (id ~ '^idn_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers on delete cascade,
  issuer text collate "C" not null check (length(issuer) <= 500),
  subject text collate "C" not null check (length(subject) between 1 and 255),
  email text check (length(email) <= 254),
  linked_at timestamptz not null default now(),
  unique (issuer, subject)
);
create index identities_seller on identities (seller_id);
create table sessions (
  id text collate "C" primary key check (id ~ '^ses_[0-9a-hjkmnp-tv-z]{26}$'),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  seller_id text collate "C" not null references sellers on delete cascade,
  method text collate "C" not null check (method in ('code', 'password', 'idp')),
  user_agent text not null default '' check (length(user_agent) <= 300),
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
create index sessions_seller on sessions (seller_id, created_at);
create table one_time_codes (
  email text collate "C" primary key check (email = lower(btrim(email)) and length(email) between 3 and 254),
  id uuid not null unique,
  purpose text collate "C" not null check (purpose in ('sign_in', 'change_email')),
  browser_hash bytea not null unique check (octet_length(browser_hash) = 32),
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  used_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  session_id text collate "C" references sessions on delete cascade,
  issuer text collate "C" check (length(issuer) <= 500),
  subject text collate "C" check (length(subject) between 1 and 255),
  check ((purpose = 'change_email') = (session_id is not null)),
  check ((issuer is null) = (subject is null))
);
create index one_time_codes_session on one_time_codes (session_id) where session_id is not null;
create index one_time_codes_expires on one_time_codes (expires_at);
alter table limits add column overruns integer not null default 0;
