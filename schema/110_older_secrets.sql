-- Secrets that were replaced before the one in old_secret, and when they end, which is never after it. A receiver can have any of them,
-- because nobody knows which answer to a rotation arrived. They count only beside an old_secret: an earlier program ends that one alone.
alter table webhook_endpoints
  add column older_secrets bytea[] not null default '{}',
  add column older_secrets_until timestamptz[] not null default '{}',
  add check (cardinality(older_secrets) = cardinality(older_secrets_until));
