alter table email_changes
  add column confirmed_at timestamptz,
  add column old_email text check (length(old_email) between 3 and 254),
  add column moves_at timestamptz,
  add column kept_at timestamptz,
  add constraint email_changes_confirmed_check check ((confirmed_at is null) = (old_email is null));
create index email_changes_moves on email_changes (moves_at) where moves_at is not null;
alter table orders add column mailbox_refused_at timestamptz;
update orders set mailbox_refused_at = receipt_bounced_at where receipt_bounced_at is not null;
