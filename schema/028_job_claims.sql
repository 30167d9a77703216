-- Which process runs which job. Each process holds a lock of its own in the database. When that lock is free, its jobs go to other
-- processes within seconds; before, a job only counted as lost after its queue's time limit.
create table job_claims (
  job_id uuid primary key,
  queue text not null,
  -- The job's count of retries when it was taken: a later attempt is another claim.
  attempt integer not null,
  owner integer not null,
  claimed_at timestamptz not null default now()
);
