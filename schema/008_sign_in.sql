-- Sellers sign in. Secrets are stored as hashes, and this database's clock decides when they expire.

alter table sellers
  -- Null: no person has proved the mailbox yet. The first proof removes every way to sign in from before.
  add column email_proven_at timestamptz,
  -- Set by the operator: while it is set, no sign-in works and no session counts.
  add column disabled_at timestamptz;

-- A table of its own, so that no query for a seller reads the hash too.
create table passwords (
  seller_id text collate "C" primary key references sellers on delete cascade,
  -- Argon2id in PHC form, which names its own parameters.
  hash text collate "C" not null check (hash like '$argon2id$%'),
  set_at timestamptz not null default now()
);

-- Identities at a provider. The subject is the provider's own id for a person and never changes; an address can change.
create table identities (
  id text collate "C" primary key check (id ~ '^idn_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers on delete cascade,
  issuer text collate "C" not null check (length(issuer) <= 500),
  subject text collate "C" not null check (length(subject) between 1 and 255),
  -- The address at the time of linking, to show which account it is. Never compared.
  email text check (length(email) <= 254),
  linked_at timestamptz not null default now(),
  unique (issuer, subject)
);
create index identities_seller on identities (seller_id);

create table sessions (
  id text collate "C" primary key check (id ~ '^ses_[0-9a-hjkmnp-tv-z]{26}$'),
  -- SHA-256 of the cookie's 256 random bits: a reader of this table can open nothing with it.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  seller_id text collate "C" not null references sellers on delete cascade,
  method text collate "C" not null check (method in ('code', 'password', 'idp')),
  user_agent text not null default '' check (length(user_agent) <= 300),
  -- When its holder signed in: it ends 90 days later in any case.
  created_at timestamptz not null default now(),
  -- When it was last used, to the hour: it ends after 30 days without use.
  seen_at timestamptz not null default now()
);
create index sessions_seller on sessions (seller_id, created_at);

-- One live code for a mailbox, for any purpose, by the primary key. A newer one replaces the older.
create table one_time_codes (
  -- The same collation as the sellers' addresses, or a join could not use their index.
  email text primary key check (email = lower(btrim(email)) and length(email) between 3 and 254),
  id uuid not null unique,
  purpose text collate "C" not null check (purpose in ('sign_in', 'change_email')),
  -- SHA-256 of the requesting browser's cookie. No other browser can use the code or its tries.
  browser_hash bytea not null unique check (octet_length(browser_hash) = 32),
  -- HMAC of browser, mailbox and code: a hash of six digits alone could be found by trying them all.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  used_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- The session that began a change of address here. Only this session can finish it.
  session_id text collate "C" references sessions on delete cascade,
  -- The identity at a provider, until the right code proves the mailbox.
  issuer text collate "C" check (length(issuer) <= 500),
  subject text collate "C" check (length(subject) between 1 and 255),
  check ((purpose = 'change_email') = (session_id is not null)),
  check ((issuer is null) = (subject is null))
);
create index one_time_codes_session on one_time_codes (session_id) where session_id is not null;
create index one_time_codes_expires on one_time_codes (expires_at);

-- How often in a row a limit was exceeded: the pause grows with it.
alter table limits add column overruns integer not null default 0;
