-- What any program needs. Rate limits that guard a secret are counted here, so that they hold across all instances. The table is
-- unlogged: a crash of the database resets the counts, which breaks no promise.
create unlogged table limits (
  key text collate "C" primary key,
  count integer not null,
  until timestamptz not null
);

-- The mails of a service without a mail server. The key is the job's id, so a repeat adds nothing.
create table outbox (
  id uuid primary key,
  recipient text not null,
  subject text not null,
  text text not null,
  html text not null,
  sent_at timestamptz not null default clock_timestamp()
);
create index outbox_recipient on outbox (recipient, sent_at desc);
