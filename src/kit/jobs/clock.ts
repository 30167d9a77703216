import type { PgBoss } from 'pg-boss'

// The clock of a machine can be set back, by hours where it was wrong. The library's timers, and what it has noted in the database, would
// then wait until the new clock shows what the old one showed.

/**
 * No setting of the machine's clock moves it. The library measures its waits by it, and learns which time it is by the difference to the
 * database's clock, which it reads each minute. While a machine is suspended it stands still: schedules are right again a minute later.
 */
export const STEADY_CLOCK = {
  now: () => performance.timeOrigin + performance.now(),
  setTimeout: (run: () => void, ms: number) => setTimeout(run, ms),
  clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  setInterval: (run: () => void, ms: number) => setInterval(run, ms),
  clearInterval: (timer: unknown) => clearInterval(timer as NodeJS.Timeout),
}
/** The library asks the database this often which time it is. */
export const CLOCK_READ_SECONDS = 60
const LOOK_MS = 60_000

/** Brings schedules back after the clock of the database was set back: now, and then each minute until the library stops. */
export async function mendClockSteps(boss: PgBoss, onError: (error: unknown) => void): Promise<void> {
  const mend = () => boss.getDb().executeSql(CLOCK_STEP).catch(onError)
  const timer = setInterval(mend, LOOK_MS).unref()
  boss.once('stopped', () => clearInterval(timer))
  await mend()
}

/**
 * Takes back what the library has noted for a time that is still to come: when the schedules and the queues were looked at last, and
 * which minutes of a schedule are done. Otherwise no schedule runs before that time. It is one statement, because the noted minutes are
 * looked for only where the schedules were looked at in the future. More than a hundred years ahead is no clock: it holds the schedules.
 */
const CLOCK_STEP = `
  with set_back as (
    update pgboss.version set cron_on = null where cron_on between now() + interval '1 second' and now() + interval '100 years' returning true),
  queues as (
    update pgboss.queue set monitor_claim_on = least(monitor_claim_on, now()), maintain_on = least(maintain_on, now())
    where monitor_claim_on > now() + interval '1 second' or maintain_on > now() + interval '1 second')
  delete from pgboss.job where name = '__pgboss__send-it' and singleton_on > now() at time zone 'UTC'
    and state in ('completed', 'failed') and exists (select from set_back)`
