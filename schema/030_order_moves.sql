-- A seller, or a thief with a stolen session, must not take sold files back by moving the order to their own mailbox. After the
-- reader of the new mailbox has confirmed it, the order waits for the consent of the old one, or for some days in which the old one
-- can keep it by one click.
alter table email_changes
  -- The reader of the new mailbox has confirmed it. From then on the code is that of the old one, to consent.
  add column confirmed_at timestamptz,
  add column old_email text check (length(old_email) between 3 and 254),
  -- When the order moves without an answer of the old mailbox. Null until its mail server has accepted the question, and after the
  -- mailbox has kept the order once: then the order moves only with its consent.
  add column moves_at timestamptz,
  add constraint email_changes_confirmed_check check ((confirmed_at is null) = (old_email is null));
create index email_changes_moves on email_changes (moves_at) where moves_at is not null;

-- The mail server said that the mailbox does not exist. A receipt can also be refused for its content, which the seller has written
-- in part, so `receipt_bounced_at` alone does not mean that the address is mistyped. The reasons of older refusals are unknown, so
-- no older row has this mark.
alter table orders
  add column mailbox_refused_at timestamptz,
  -- The reader of the address has kept the order there. It is a column of the order, because the next request replaces the change.
  add column address_kept_at timestamptz;
