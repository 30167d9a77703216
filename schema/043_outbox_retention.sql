-- Old mails are removed, oldest first. The page of the outbox reads the newest ones by the same index.
create index outbox_sent on outbox (sent_at, id);
