import type { AccountSettlement, PayoutItem } from '../seller-accounts.ts'
import { bankReferenceOf } from '../shapes.ts'
import { type Visit, listed, pagesIfAllowed } from './client.ts'
import { type Settlement, shapes } from './entities.ts'
import { timeOf } from './snapshot.ts'

/**
 * Razorpay's settlements to the banks of linked accounts, of transfers that were made since a moment. There is no list of settlements, so
 * they come with the transfers (https://razorpay.com/docs/api/payments/route/fetch-settlement-details).
 */
export async function* settlementsSince(visit: () => Visit, since: Date): AsyncGenerator<AccountSettlement> {
  const [from, to] = [since, new Date()].map((time) => Math.floor(time.getTime() / 1000)) as [number, number]
  const query = { from, to, 'expand[]': 'recipient_settlement' }
  const found = new Map<string, { account: string; currency: string; settlement: Settlement }>()
  // an account without Route refuses the list
  for await (const page of pagesIfAllowed(shapes.transfers, visit, '/v1/transfers', query))
    for (const { recipient, currency, recipient_settlement: settlement } of page)
      if (shapes.settlement.Check(settlement)) found.set(settlement.id, { account: recipient, currency, settlement })
  for (const { account, currency, settlement } of found.values()) {
    const { id, amount, status, utr, created_at: at } = settlement
    // Razorpay can take back as much as it newly settles
    if (amount <= 0) continue
    const state = status === 'processed' ? 'paid' : status === 'failed' ? 'failed' : 'sent'
    const times = { createdAt: timeOf(at), arrivesAt: timeOf(at) }
    const named = bankReferenceOf(utr)
    yield {
      account,
      payout: { id, amountMinor: amount, currency, state, ...times, ...named, isItemised: state === 'paid' },
    }
  }
}

/**
 * The transfers of a settlement, and the amount by which it is less than their sum: Razorpay names neither its fees nor the reversals
 * for refunds.
 * (https://razorpay.com/docs/api/payments/route/fetch-transfers-for-a-settlement)
 */
export async function* settlementItems(
  visit: () => Visit,
  { id, amountMinor, createdAt }: AccountSettlement['payout'],
): AsyncGenerator<PayoutItem> {
  const transfers = await listed(shapes.transfers, visit, '/v1/transfers', { recipient_settlement_id: id })
  const ours = transfers.filter((one) => one.recipient_settlement_id === id)
  let restMinor = amountMinor
  for (const { id: transferId, amount, created_at: at } of ours) {
    restMinor -= amount
    const item = { id: transferId, sourceId: transferId, amountMinor: amount, feeMinor: 0, at: timeOf(at) }
    yield { ...item, kind: 'sale', what: 'transfer' }
  }
  // it is more while transfers are missing in the list
  const item = { id: `${id}:rest`, sourceId: undefined, amountMinor: restMinor, feeMinor: 0, at: createdAt }
  if (restMinor < 0) yield { ...item, kind: 'other', what: 'taken_back' }
}
