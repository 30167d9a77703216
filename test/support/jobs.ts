import { sql } from 'kysely'
import type { Db } from '../../src/kit/database.ts'

/** Jobs that have not succeeded, those given up too: each with its queue, its data and its state, `running` or as the library calls it. */
export const openJobs = sql`(
  select name, data, case when state = 'active' then 'running' else state::text end as state from pgboss.job where state <> 'completed'
  union all select queue, data, 'running' from begun_jobs)`

/**
 * From now on, all jobs that are added are also rows of `added_jobs`: a brief job leaves no other trace once it is done. Uses one
 * statement without values, for any connection.
 */
export const RECORD_JOBS = `
  create table if not exists added_jobs (id uuid primary key, queue text not null, data jsonb);
  create or replace function record_job() returns trigger language plpgsql as $$ begin
    insert into added_jobs values (new.id, coalesce(to_jsonb(new)->>'queue', to_jsonb(new)->>'name'), new.data) on conflict do nothing;
    return null;
  end $$;
  create or replace trigger record_job after insert on begun_jobs for each row execute function record_job();
  create or replace trigger record_job after insert on pgboss.job_common for each row execute function record_job();`

export const recordJobs = async (db: Db): Promise<void> => void (await sql.raw(RECORD_JOBS).execute(db))
