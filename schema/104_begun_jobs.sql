-- Jobs that a process runs as soon as it has added them, of queues whose jobs mostly succeed at once. The job library's table has more
-- than nine indexes, and such a job changed it three times. Here a job is one row, which is deleted when the job has succeeded. All
-- other jobs go through the library: store_begun_jobs gives it a job that has failed or whose process has ended.
create table begun_jobs (
  id uuid primary key,
  queue text not null,
  data jsonb not null,
  -- The process that runs the job, as in job_claims.
  owner integer not null,
  begun_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Moves begun jobs to the library's table: taken, and claimed by the process that has begun them.
create function store_begun_jobs(jobs uuid[]) returns void language plpgsql as $$
begin
  with gone as (delete from begun_jobs where id = any(jobs) returning *),
  stored as (
    insert into pgboss.job (id, name, data, state, created_on, started_on, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max,
      expire_seconds, deletion_seconds, keep_until)
    select g.id, q.name, g.data, 'active', g.begun_at, g.begun_at, q.policy, q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max,
      q.expire_seconds, q.deletion_seconds, now() + make_interval(secs => q.retention_seconds)
    from gone g join pgboss.queue q on q.name = g.queue
    returning id)
  insert into job_claims (job_id, queue, attempt, owner, claimed_at)
  select g.id, g.queue, 0, g.owner, g.begun_at from gone g join stored s on s.id = g.id;
end $$;

-- An earlier release releases the claims of a process that has ended, and does not know this table. So each process has one more claim
-- for each of these queues, of an attempt that no job has. When it is deleted, the begun jobs of its process become claimed jobs, which any release takes.
create function store_begun_jobs_of_ended() returns trigger language plpgsql as $$
begin
  perform store_begun_jobs(array(select id from begun_jobs where owner = old.owner and queue = old.queue));
  return null;
end $$;
create trigger store_begun_jobs after delete on job_claims for each row when (old.attempt = 2147483647)
  execute function store_begun_jobs_of_ended();
