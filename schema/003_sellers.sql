create table sellers (
  id text collate "C" primary key check (id ~ '^sel_[0-9a-hjkmnp-tv-z]{26}$'),
  name text not null check (length(name) between 1 and 200),
  email text not null unique check (email = lower(btrim(email)) and length(email) between 3 and 254),
  created_at timestamptz not null default now()
);
