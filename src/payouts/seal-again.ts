import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { TextSeal } from '../kit/sealed-text.ts'

/** Rows that are read at once. A bank file can have some megabytes. */
const AT_ONCE = { payout_details: 500, payouts: 500, payout_files: 10 } as const
/** Older payouts and bank files have ended. No route opens them again, and they stay closed once the secret is gone. */
const OPENED_FOR = '90 days'

/** Each table with sealed bytes: the key of a row, the column, and the rows that somebody may still open. */
const SEALED = {
  payout_details: { key: sql`seller_id || ' ' || currency`, column: 'sealed', since: 'changed_at', days: '100 years' },
  payouts: { key: sql`id`, column: 'destination', since: 'created_at', days: OPENED_FOR },
  payout_files: { key: sql`id`, column: 'content', since: 'exported_at', days: OPENED_FOR },
} as const

/**
 * Seals with the present secret the texts that an earlier one has sealed, before the operator takes that secret away. The bytes are
 * compared as they were read, so a change at the same moment is not undone.
 */
export async function sealPayoutsAgain(db: Db, seal: TextSeal): Promise<void> {
  for (const table of ['payout_details', 'payouts', 'payout_files'] as const) await sealTable(db, seal, table)
}

async function sealTable(db: Db, seal: TextSeal, table: keyof typeof SEALED): Promise<void> {
  const { key, column, since, days } = SEALED[table]
  for (let after = ''; ;) {
    const { rows } = await sql<{ key: string; sealed: Buffer }>`
      select ${key} as key, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${key} > ${after} and ${sql.ref(since)} > now() - ${days}::interval
      order by 1 limit ${AT_ONCE[table]}`.execute(db)
    for (const row of rows) {
      const opened = seal.open(row.sealed)
      if (!opened?.isOld) continue
      await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${seal.seal(opened.text)}
        where ${key} = ${row.key} and ${sql.ref(column)} = ${row.sealed}`.execute(db)
    }
    if (rows.length < AT_ONCE[table]) return
    after = rows.at(-1)!.key
  }
}
