-- Jobs of some queues while they run for the first time. Most of them succeed at once, and their row is deleted then. In the job
-- library's table, which has many indexes, such a job changed its row three times. A job that fails, runs too long, or whose process
-- ends or does not know it, goes on as a job of the library: store_begun_jobs moves it.
create table begun_jobs (
  id uuid primary key,
  queue text not null,
  data jsonb not null,
  -- The process that runs the job, as in job_claims.
  owner integer not null,
  begun_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Moves begun jobs to the library's table. There they are taken, and claimed by the process that has begun them.
create function store_begun_jobs(jobs uuid[]) returns void language plpgsql as $$
begin
  with gone as (
    delete from begun_jobs b using pgboss.queue q where q.name = b.queue and b.id = any(jobs)
    returning b.id, b.data, b.owner, b.begun_at, q.*),
  stored as (
    insert into pgboss.job (id, name, data, state, created_on, started_on, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max,
      expire_seconds, deletion_seconds, keep_until)
    select id, name, data, 'active', begun_at, begun_at, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max,
      expire_seconds, deletion_seconds, now() + make_interval(secs => retention_seconds)
    from gone returning id)
  insert into job_claims (job_id, queue, attempt, owner, claimed_at)
  select id, name, 0, owner, begun_at from gone;
end $$;

-- An earlier release deletes the claims of a process that has ended, and does not know this table. So each process also claims each of
-- these queues, with an attempt that no job has. When such a claim is deleted, the begun jobs of its process and queue become claimed
-- jobs, and the next check of any release finds them.
create function store_begun_jobs_of_ended() returns trigger language plpgsql as $$
begin
  perform store_begun_jobs(array(select id from begun_jobs where owner = old.owner and queue = old.queue));
  return null;
end $$;
create trigger store_begun_jobs after delete on job_claims for each row when (old.attempt = 2147483647)
  execute function store_begun_jobs_of_ended();
