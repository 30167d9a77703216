-- The kind of the payout's destination, which decides in which bank file the payout goes.
alter table payouts add column destination_kind text collate "C" not null default 'other';

-- What the operator gave to a bank. The first export keeps the bytes, so each further one is the same file, and the bank can see that
-- it has it already.
create table payout_files (
  id text collate "C" primary key,
  run_id text collate "C" not null references payout_runs,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  format text collate "C" not null check (format in ('sepa', 'csv')),
  -- Identifies the file at the bank.
  message_id text collate "C" not null unique check (length(message_id) <= 35),
  payouts integer not null check (payouts > 0),
  amount_minor bigint not null check (amount_minor > 0),
  -- Sealed, because it holds names and account numbers.
  content bytea not null,
  exported_at timestamptz not null default now(),
  exported_by text not null check (length(exported_by) between 1 and 254),
  unique (run_id, currency, format)
);
-- A payout is in one file at most. Null: it was not exported.
alter table payouts add column file_id text collate "C" references payout_files;
create index payouts_file on payouts (file_id) where file_id is not null;
alter table payouts add constraint payouts_exported_check
  check (file_id is not null or state in ('approved', 'failed'));

-- What banks say about payouts. Each file is read once.
create table payout_statements (
  -- SHA-256 of the file.
  hash bytea primary key check (octet_length(hash) = 32),
  format text collate "C" not null check (format in ('camt.053', 'csv')),
  uploaded_at timestamptz not null default now(),
  uploaded_by text not null check (length(uploaded_by) between 1 and 254),
  -- Lines that are about no payout, such as the operator's own business. Nothing of them is kept.
  others integer not null check (others >= 0)
);
create table payout_statement_lines (
  statement_hash bytea not null references payout_statements,
  position integer not null,
  reference text collate "C" not null check (length(reference) <= 35),
  amount_minor bigint not null,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- What the line did. The last three did nothing, and a person must look.
  outcome text collate "C" not null
    check (outcome in ('paid', 'failed', 'reversed', 'known_before', 'not_found', 'amount_differs', 'not_expected')),
  payout_id text collate "C" references payouts,
  primary key (statement_hash, position)
);
create index payout_statement_lines_odd on payout_statement_lines (statement_hash)
  where outcome in ('not_found', 'amount_differs', 'not_expected');
