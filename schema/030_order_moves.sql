-- A seller, or whoever has stolen a session, must not be able to take sold files back by moving the order to a mailbox of their own.
-- When the new mailbox has shown that it is read, the order waits for the consent of the old one, or for some days in which the old
-- one can keep it by one click.
alter table email_changes
  -- The new mailbox has answered. From then on the code is that of the old one, to consent.
  add column confirmed_at timestamptz,
  add column old_email text check (length(old_email) between 3 and 254),
  -- When the order moves without an answer of the old mailbox. Null until the mail server has taken the question to it, and where it
  -- has said no before: then the order moves by consent alone.
  add column moves_at timestamptz,
  add constraint email_changes_confirmed_check check ((confirmed_at is null) = (old_email is null));
create index email_changes_moves on email_changes (moves_at) where moves_at is not null;

-- The mail server said that the mailbox itself is not there. A receipt can also be refused for what is in it, which the seller has
-- written in part, so `receipt_bounced_at` alone does not say that the address is mistyped. Why the older receipts were refused is not
-- known, so none of them says so.
alter table orders
  add column mailbox_refused_at timestamptz,
  -- The reader of its address has kept it there. It stands here and not with the change, which the next request replaces.
  add column address_kept_at timestamptz;
