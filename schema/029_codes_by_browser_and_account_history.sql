-- Sellers' codes to sign in had the mailbox as their key, so a stranger who typed an address ended the code of its owner. They are
-- beside the buyers' codes now, one for each browser that waits. `one_time_codes` stays for instances of an older version, and is
-- otherwise empty within a day.
alter table mailbox_codes drop constraint mailbox_codes_purpose_check;
alter table mailbox_codes add constraint mailbox_codes_purpose_check
  check (purpose in ('charge', 'library', 'sign_in', 'change_email'));

alter table mailbox_codes
  -- The session that began a change of address here. Only this session can finish it.
  add column session_id text collate "C" references sessions on delete cascade,
  -- The identity at a provider, until the right code proves the mailbox.
  add column issuer text collate "C" check (length(issuer) <= 500),
  add column subject text collate "C" check (length(subject) between 1 and 255),
  add constraint mailbox_codes_session_check check ((purpose = 'change_email') = (session_id is not null)),
  add constraint mailbox_codes_identity_check check ((issuer is null) = (subject is null));
create index mailbox_codes_session on mailbox_codes (session_id) where session_id is not null;

-- The changes of an account's security, for its owner. It also shows which providers were ever linked: a provider can give an
-- address to another person later, who then needs a code to the mailbox.
create table account_events (
  id bigint generated always as identity primary key,
  seller_id text collate "C" not null references sellers on delete cascade,
  what text collate "C" not null
    check (what in ('identity_linked', 'identity_added', 'identity_unlinked', 'password_changed', 'email_changed',
      'support_email_changed')),
  -- For a provider's account.
  issuer text collate "C" check (length(issuer) <= 500),
  -- For a provider's account: its address there. For the seller's mailbox and the support address: the new one.
  email text check (length(email) <= 254),
  at timestamptz not null default now()
);
create index account_events_seller on account_events (seller_id, id);
