import { sql } from 'kysely'
import type pg from 'pg'
import { type Db, connect } from '../../kit/database.ts'
import { type Difference, trialBalance } from '../../ledger/trial-balance.ts'
import { accountOf } from '../../processors/connected.ts'
import type { Processor } from '../../processors/processor.ts'
import { askAbout } from './ask.ts'
import { type Day, compare, days, keepListed, makeTables, suspects } from './listed.ts'
import { connectedNames } from '../sync/accounts.ts'
import { comparePayouts, oddPayouts } from './payouts.ts'
import { checkRows } from './rows.ts'

/** The most payments to ask about one by one. If more are in question, the fault lies elsewhere. */
const MOST_SUSPECTS = 1000
/** News that is under way gets this long to be booked before it counts as missing. */
const GRACE_MS = 10_000
/** Enough to sort and join in memory. The default would write temporary files. */
const WORK_MEMORY = '64MB'

export interface Reconciliation {
  from: Date
  to: Date
  days: Day[]
  differences: Difference[]
  /** Each part that could not be reconciled, with the reason. */
  notAsked: string[]
  /** Processors that took money in these days and are not configured any more: there is no adapter that could ask them. */
  notConfigured: string[]
  /** Connected accounts that took money in these days and give us no access any more: their lists cannot be read. */
  noAccess: string[]
}

/**
 * Checks that the books agree with themselves, with the orders, and with the money that moved at the processors in [from, to). It
 * also checks that disputes that are open or lately won here are so at the processor, whatever their day. It writes nothing. It reads all
 * of the books in one snapshot, reads the processors' lists, and asks about single payments that differ.
 */
export async function reconcileBooks({
  database,
  processors,
  from,
  to,
  graceMs = GRACE_MS,
  mostSuspects = MOST_SUSPECTS,
}: {
  database: pg.PoolConfig
  processors: ReadonlyMap<string, Processor>
  from: Date
  to: Date
  graceMs?: number
  mostSuspects?: number
}): Promise<Reconciliation> {
  const { db: pool, close } = connect(database, { connections: 1, patient: true })
  try {
    return await pool.connection().execute(async (db) => {
      await sql`select set_config('work_mem', ${WORK_MEMORY}, false)`.execute(db)
      await makeTables(db)
      const notAsked: string[] = []
      const reachable: string[] = []
      const found = await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => {
          const differences = [...(await trialBalance(tx)), ...(await checkRows(tx)), ...(await oddPayouts(tx))]
          const names = await connectedNames(tx)
          const accounts = names.flatMap((name) => processors.get(name) ?? [])
          for (const processor of [...processors.values(), ...accounts]) {
            const { name, movements } = processor
            if (!movements) continue
            try {
              await keepListed(tx, name, movements(from, to))
              differences.push(...(await comparePayouts(tx, processor, from, to)))
              reachable.push(name)
            } catch (error) {
              notAsked.push(`${name}: its list could not be read (${(error as Error).message})`)
            }
          }
          const used = await processorsWith(tx, from, to)
          const notConfigured = used.filter((name) => !processors.get(name)?.movements)
          // an ended account has an adapter too
          const others = new Set([...names, ...notConfigured])
          const noAccess = used.filter((name) => accountOf(name) && !others.has(name))
          await sql`delete from pg_temp.listed where processor <> all(${reachable}::text[])`.execute(tx)
          await compare(tx, reachable, from, to)
          return { differences, notConfigured, noAccess }
        })
      const { list, more } = await suspects(db, reachable, mostSuspects)
      const answers = await askAbout(db, processors, list, graceMs)
      for (const { processor, payment } of answers.notAsked) notAsked.push(`${processor}: payment ${payment}`)
      const skipped: Difference[] = more > 0 ? [{ what: 'many_more', id: `${more} payments` }] : []
      return {
        from,
        to,
        days: await days(db, answers.resolved),
        differences: [...found.differences, ...answers.differences, ...skipped],
        notAsked,
        notConfigured: found.notConfigured,
        noAccess: found.noAccess,
      }
    })
  } finally {
    await close()
  }
}

async function processorsWith(db: Db, from: Date, to: Date): Promise<string[]> {
  const { rows } = await sql<{ processor: string }>`
    select distinct processor from captures where captured_at >= ${from} and captured_at < ${to} order by 1`.execute(db)
  return rows.map(({ processor }) => processor)
}
