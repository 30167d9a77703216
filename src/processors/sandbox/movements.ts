import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import type { MoneyMovement } from '../processor.ts'
import type { StoredPayment } from './payments.ts'

const PAGE = 2000

/** The movements in [from, to). The sandbox stores only the time of a capture, so its refunds and disputes have that time too. */
export async function* movements(db: Db, from: Date, to: Date): AsyncGenerator<MoneyMovement> {
  const isInside = ({ at }: MoneyMovement) => Date.parse(at) >= from.getTime() && Date.parse(at) < to.getTime()
  for (let last = ''; ;) {
    const { rows } = await sql<{ id: string; payment: StoredPayment }>`
      select id, payment from sandbox_payments where id > ${last} order by id limit ${PAGE}`.execute(db)
    for (const { payment } of rows) yield* movementsOf(payment).filter(isInside)
    if (rows.length < PAGE) return
    last = rows.at(-1)!.id
  }
}

function movementsOf({ processorPaymentId, orderId, captures, refunds, disputes }: StoredPayment): MoneyMovement[] {
  return captures.flatMap((capture) => {
    const common = { processorPaymentId, orderId: orderId ?? null, currency: capture.currency, at: capture.capturedAt }
    const of = ({ captureId }: { captureId: string }) => captureId === capture.id
    // the money of a failed refund never left
    const isMade = (refund: object) => !('state' in refund && refund.state === 'failed')
    return [
      { ...common, kind: 'capture' as const, id: capture.id, amountMinor: capture.amountMinor },
      ...refunds
        .filter((one) => of(one) && isMade(one))
        .map(({ id, amountMinor }) => ({ ...common, kind: 'refund' as const, id, amountMinor })),
      ...disputes.filter(of).map(({ id, amountMinor }) => ({ ...common, kind: 'dispute' as const, id, amountMinor })),
    ]
  })
}
