alter table mailbox_codes drop constraint mailbox_codes_purpose_check;
alter table mailbox_codes add constraint mailbox_codes_purpose_check
  check (purpose in ('charge', 'library', 'sign_in', 'change_email'));
alter table mailbox_codes
  add column session_id text collate "C" references sessions on delete cascade,
  add column issuer text collate "C" check (length(issuer) <= 500),
  add column subject text collate "C" check (length(subject) between 1 and 255),
  add constraint mailbox_codes_session_check check ((purpose = 'change_email') = (session_id is not null)),
  add constraint mailbox_codes_identity_check check ((issuer is null) = (subject is null));
create index mailbox_codes_session on mailbox_codes (session_id) where session_id is not null;
create table account_events (
  id bigint generated always as identity primary key,
  seller_id text collate "C" not null references sellers on delete cascade,
  what text collate "C" not null
    check (what in ('identity_linked', 'identity_added', 'identity_unlinked', 'password_changed', 'email_changed')),
  issuer text collate "C" check (length(issuer) <= 500),
  email text check (length(email) <= 254),
  at timestamptz not null default now()
);
create index account_events_seller on account_events (seller_id, id);
