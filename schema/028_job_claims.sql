-- Which process runs which job. A process that runs holds a lock of its own in the database; once that lock is free, its jobs are
-- given to the others within seconds, where a job was taken for lost only after its queue's time limit before.
create table job_claims (
  job_id uuid primary key,
  queue text not null,
  -- The job's count of retries when it was taken: a later attempt is another claim.
  attempt integer not null,
  owner integer not null,
  claimed_at timestamptz not null default now()
);
