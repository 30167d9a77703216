-- Buyers without an account prove a mailbox by a code, and then see its orders.

-- One live code for each browser. A mailbox has as many as browsers wait for one, so that a stranger who types an address cannot
-- end the code of its owner.
create table mailbox_codes (
  id uuid primary key,
  -- The same collation as the orders' addresses, or a join could not use their index.
  email text not null check (email = lower(btrim(email)) and length(email) between 3 and 254),
  -- The purpose of the code: the mail names it, and a code for one purpose opens nothing else.
  purpose text collate "C" not null check (purpose in ('charge')),
  -- SHA-256 of the requesting browser's cookie. No other browser can use the code or its tries.
  browser_hash bytea not null unique check (octet_length(browser_hash) = 32),
  -- HMAC of browser and code: a hash of six digits alone could be found by trying them all.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  used_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index mailbox_codes_expires on mailbox_codes (expires_at);

-- The orders of a mailbox, newest first.
create index orders_email on orders (email, created_at desc);
