-- The files and pictures that the backup has. Their bytes never change, so each is copied once. `sha256` is null for a file that the
-- storage had lost.
create table backup_files (
  key text collate "C" primary key,
  sha256 text collate "C" check (sha256 ~ '^[0-9a-f]{64}$'),
  copied_at timestamptz not null default now()
);

-- What came of each backup and of each restore drill. The operator's view, the measures and the doctor read it.
create table backup_runs (
  id bigint generated always as identity primary key,
  kind text collate "C" not null check (kind in ('base', 'drill')),
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  bytes bigint not null default 0,
  -- How much would be lost, in seconds, if the machine were gone when the drill began.
  lost_seconds double precision,
  -- Null: it went well.
  problem text
);
create index backup_runs_newest on backup_runs (kind, finished_at desc);
