-- After a sale a file can turn out to be malicious, or the seller had no right to sell it. A recall takes it from all buyers for
-- good. It covers the seller's bytes and not one row of files: so every copy ends at once, and a simultaneous upload of the same
-- bytes opens nothing. The rows and the bytes stay for an investigation.
create table withdrawn_files (
  seller_id text collate "C" not null references sellers,
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The reason in the mails to buyers: one line.
  reason text not null check (length(reason) between 1 and 500 and reason !~ '[[:cntrl:]]'),
  withdrawn_at timestamptz not null default now(),
  -- When the buyers' mails were enqueued, by the same transaction, so each is sent once.
  buyers_told_at timestamptz,
  primary key (seller_id, sha256)
);
-- Read each minute, and nearly always empty.
create index withdrawn_files_untold on withdrawn_files (withdrawn_at) where buyers_told_at is null;
