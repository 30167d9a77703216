import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { viesCountry } from '../tax-ids/check.ts'
import type { AskRegister, Requester } from '../tax-ids/vies.ts'
import type { TaxId } from './document.ts'

/** Few, because VIES refuses a client that asks much at once. */
const AT_ONCE = 5
/** While a process asks, no other one does. After this long it has died. */
const CLAIM_MINUTES = 10
/** The pause doubles from five minutes up to a day. After a fortnight the service gives up. */
const PAUSE_MINUTES = 5
const LONGEST_PAUSE_MINUTES = 1440
const MOST_TRIES = 22

interface Due extends TaxId {
  invoiceId: string
  sellerId: string
  seller: TaxId[]
}

/** Asks the register about the buyers' tax ids that are due. No answer is not "invalid": those are asked again later. */
export async function askDueTaxIds(db: Db, ask: AskRegister): Promise<void> {
  for (;;) {
    const due = await claimDue(db)
    for (const { invoiceId, country, id, sellerId, seller } of due) {
      const { state, consultation } = await ask({ country, taxId: id }, inVies(sellerId, seller))
      await sql`
        update tax_id_checks set state = ${state}, consultation = ${consultation ?? null}, checked_at = now(), tries = tries + 1,
          due_at = case when ${state} = 'unavailable' and tries + 1 < ${MOST_TRIES}
            then now() + make_interval(mins => least(${PAUSE_MINUTES} * (2 ^ least(tries, 12))::int, ${LONGEST_PAUSE_MINUTES})) end
        where invoice_id = ${invoiceId}`.execute(db)
    }
    if (due.length < AT_ONCE) return
  }
}

/** The seller's own number gets the consultation number from VIES, which proves that the seller asked. */
const inVies = (sellerId: string, taxIds: readonly TaxId[]): Requester | undefined =>
  taxIds.map(({ country, id }) => ({ sellerId, country, taxId: id })).find(({ country }) => viesCountry(country))

async function claimDue(db: Db): Promise<Due[]> {
  const { rows } = await sql<Due>`
    update tax_id_checks c set due_at = now() + make_interval(mins => ${CLAIM_MINUTES})
    from invoices i
    where i.id = c.invoice_id and c.invoice_id in (
      select invoice_id from tax_id_checks where due_at <= now() order by due_at limit ${AT_ONCE} for update skip locked)
    returning c.invoice_id as "invoiceId", c.country, c.tax_id as id, i.seller_id as "sellerId", i.data->'seller'->'taxIds' as seller`.execute(
    db,
  )
  return rows
}
