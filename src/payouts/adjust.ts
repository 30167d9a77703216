import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { CURRENCIES } from '../kit/currencies.ts'
import { Refusal } from '../kit/errors.ts'
import { digestOf, reusedKey } from '../kit/idempotency.ts'
import { newId } from '../kit/ids.ts'
import { adjustmentTransfer } from '../ledger/payout-transfers.ts'
import { post } from '../ledger/post.ts'
import { sellerAccount } from '../ledger/transfers.ts'

export interface NewAdjustment {
  sellerId: string
  currency: string
  /** Minor units. Positive: to the seller. */
  amountMinor: number
  /** The seller reads it. */
  reason: string
  by: string
  /** The same key never books twice. */
  idempotencyKey?: string | undefined
}

export interface Adjustment {
  id: string
  sellerId: string
  currency: string
  amountMinor: number
  reason: string
  createdAt: Date
}

/**
 * Corrects the money owed to a seller. `isRepeat`: a request with this key has booked it before. Refuses `seller_not_found`,
 * `validation_failed` for money that would be taken in a currency in which the seller never had any, and `idempotency_key_reused`.
 */
export async function adjust(tx: Tx, wanted: NewAdjustment): Promise<{ adjustment: Adjustment; isRepeat: boolean }> {
  const { sellerId, currency, amountMinor, reason, by, idempotencyKey } = wanted
  const isCurrency = CURRENCIES.has(currency)
  if (amountMinor === 0 || !isCurrency)
    throw new Refusal('validation_failed', 'This corrects nothing.', {
      fields: [
        isCurrency ? { path: 'amount', message: 'must not be 0' } : { path: 'currency', message: 'is no currency' },
      ],
    })
  const keyHash = idempotencyKey === undefined ? null : digestOf([sellerId, idempotencyKey])
  const requestHash = keyHash && digestOf([currency, amountMinor, reason])
  // an approval that counts at this moment counts before or after
  const { rows: sellers } = await sql`select 1 from sellers where id = ${sellerId} for no key update`.execute(tx)
  if (sellers.length === 0) throw new Refusal('seller_not_found', 'There is no such seller.')
  const { rows: earlier } = await sql<Adjustment & { isSame: boolean }>`
    select id, seller_id as "sellerId", currency, amount_minor as "amountMinor", reason, created_at as "createdAt",
      request_hash = ${requestHash} as "isSame"
    from adjustments where idempotency_key = ${keyHash}`.execute(tx)
  if (earlier[0]) {
    const { isSame, ...adjustment } = earlier[0]
    if (!isSame) throw reusedKey()
    return { adjustment, isRepeat: true }
  }
  if (amountMinor < 0) await refuseUnlessKnown(tx, sellerId, currency)
  const { rows } = await sql<Adjustment>`
    insert into adjustments (id, seller_id, currency, amount_minor, reason, created_by, idempotency_key, request_hash)
    values (${newId('adj')}, ${sellerId}, ${currency}, ${amountMinor}, ${reason}, ${by}, ${keyHash}, ${requestHash})
    returning id, seller_id as "sellerId", currency, amount_minor as "amountMinor", reason, created_at as "createdAt"`.execute(
    tx,
  )
  await post(tx, [adjustmentTransfer(rows[0]!)])
  return { adjustment: rows[0]!, isRepeat: false }
}

/** Lists of a seller's entries find the currencies by the seller's credits. */
async function refuseUnlessKnown(tx: Tx, sellerId: string, currency: string): Promise<void> {
  const { rows } = await sql`
    select 1 from transfers where credit_account = ${sellerAccount(sellerId)} and currency = ${currency} limit 1`.execute(
    tx,
  )
  if (rows.length > 0) return
  throw new Refusal('validation_failed', 'The seller never had money in this currency.', {
    fields: [{ path: 'currency', message: 'must be one in which the seller has sold' }],
  })
}
