-- Keys by which a seller's programs use the API. The secret itself is shown once and not stored.
create table api_keys (
  id text collate "C" primary key,
  seller_id text collate "C" not null references sellers on delete cascade,
  name text not null check (length(name) between 1 and 100),
  -- What the key may do, such as orders:read. The list of all scopes is in the program, so that a new one needs no migration.
  scopes text[] collate "C" not null check (cardinality(scopes) between 1 and 100),
  -- The products the key is bound to. Null: it is bound to none.
  product_ids text[] collate "C" check (cardinality(product_ids) between 1 and 100),
  created_at timestamptz not null default now(),
  -- When the newest secret was made. From then to `expires_at` is the lifetime that the next secret gets too.
  rolled_at timestamptz not null default now(),
  -- Null: never.
  expires_at timestamptz check (expires_at > rolled_at),
  revoked_at timestamptz,
  -- The key that made this one. Null: the seller made it on the pages. Revoking a key revokes those that it made.
  made_by text collate "C" references api_keys on delete set null,
  -- To the hour, so that it is written at most once an hour.
  last_used_at timestamptz,
  last_used_route text check (length(last_used_route) <= 200)
);
create index api_keys_seller on api_keys (seller_id, id);
create index api_keys_made_by on api_keys (made_by) where made_by is not null;

-- A key that is rolled has two secrets for some hours.
create table api_key_secrets (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  key_id text collate "C" not null references api_keys on delete cascade,
  -- till_live_ or till_test_, and the last four characters: enough for the owner to recognise the secret.
  prefix text collate "C" not null check (prefix in ('till_live_', 'till_test_')),
  last_four text collate "C" not null check (last_four ~ '^[0-9A-Za-z]{4}$'),
  created_at timestamptz not null default now(),
  -- Set when a newer secret replaces this one. Null: this is the newest.
  ends_at timestamptz
);
create unique index api_key_secrets_newest on api_key_secrets (key_id) where ends_at is null;
create index api_key_secrets_key on api_key_secrets (key_id);

-- A key opens the account to a program, so the owner sees in the account's history that one was made, rolled or revoked.
alter table account_events drop constraint account_events_what_check;
alter table account_events add constraint account_events_what_check
  check (what in ('identity_linked', 'identity_added', 'identity_unlinked', 'password_changed', 'email_changed',
    'support_email_changed', 'key_created', 'key_rolled', 'key_revoked'));
alter table account_events add column key_name text check (length(key_name) <= 100);
