-- What any program needs. Rate limits that guard a secret are counted here, so that they hold over all instances.
-- Unlogged: after a crash of the database the counts start anew, which costs nothing that was promised.
create unlogged table limits (
  key text collate "C" primary key,
  count integer not null,
  until timestamptz not null
);

-- Mails that would have been sent, where no mail server is configured. The key is the job's, so a repeat adds nothing.
create table outbox (
  id uuid primary key,
  recipient text not null,
  subject text not null,
  text text not null,
  html text not null,
  sent_at timestamptz not null default clock_timestamp()
);
create index outbox_recipient on outbox (recipient, sent_at desc);
