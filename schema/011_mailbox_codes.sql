-- Buyers prove a mailbox by a code, with no account: what was bought with an address is shown to whom it belongs.

-- One live code for a browser. A mailbox has as many as browsers wait for one: whoever types somebody's address must not be
-- able to end the code that its owner waits for.
create table mailbox_codes (
  id uuid primary key,
  -- Of the same collation as the orders' addresses, or their index would be of no use to a join.
  email text not null check (email = lower(btrim(email)) and length(email) between 3 and 254),
  -- What the code shows: the mail says so, and a code for one thing opens no other.
  purpose text collate "C" not null check (purpose in ('charge')),
  -- SHA-256 of what the browser that asked holds in a cookie. No other can use the code, nor burn its tries.
  browser_hash bytea not null unique check (octet_length(browser_hash) = 32),
  -- HMAC of browser and code: six digits alone would be found by trying them all.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  used_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index mailbox_codes_expires on mailbox_codes (expires_at);

-- The orders of a mailbox, the newest first.
create index orders_email on orders (email, created_at desc);
