-- A file can turn out to be malicious, or not the seller's to give, after it was sold. Withdrawn, it is nobody's any more, whoever
-- has paid for it, and for good. It is the seller's bytes that are withdrawn, and not one row of files: so every copy ends at once, and
-- one that is sent again at the same moment opens nothing. The rows and the bytes stay: they are what can be looked into.
create table withdrawn_files (
  seller_id text collate "C" not null references sellers,
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- What buyers are told: one line.
  reason text not null check (length(reason) between 1 and 500 and reason !~ '[[:cntrl:]]'),
  withdrawn_at timestamptz not null default now(),
  -- When their mails were enqueued. Set by the transaction that does it, so they are told once.
  buyers_told_at timestamptz,
  primary key (seller_id, sha256)
);
-- Looked at each minute, and nearly always empty.
create index withdrawn_files_untold on withdrawn_files (withdrawn_at) where buyers_told_at is null;
