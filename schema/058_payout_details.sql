-- Where a seller's money goes, one destination for each currency. The numbers of the account are encrypted with a key that is derived
-- from the service's secret; `shown` is the masked text for people.
create table payout_details (
  seller_id text collate "C" not null references sellers on delete cascade,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  kind text collate "C" not null check (kind in ('iban', 'upi', 'india_account', 'other')),
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  sealed bytea not null,
  shown text not null check (length(shown) between 1 and 200),
  changed_at timestamptz not null default now(),
  -- No payout goes there before. It gives the owner time to notice that somebody else has changed the destination.
  payable_from timestamptz not null,
  primary key (seller_id, currency)
);

-- The owner sees each change in the account's history.
alter table account_events drop constraint account_events_what_check;
alter table account_events add constraint account_events_what_check
  check (what in ('identity_linked', 'identity_added', 'identity_unlinked', 'password_changed', 'email_changed',
    'support_email_changed', 'key_created', 'key_rolled', 'key_revoked', 'payout_details_changed', 'payout_details_removed'));
alter table account_events
  -- For payout details.
  add column currency text collate "C" check (currency ~ '^[A-Z]{3}$'),
  -- For the seller's mailbox: the one before. It gets the mails about payout details too for some weeks, because a thief of the account
  -- may have changed the mailbox first.
  add column previous_email text check (length(previous_email) <= 254);
