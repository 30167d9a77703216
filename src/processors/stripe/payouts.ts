import type { Stripe } from 'stripe'
import { ProcessorUnavailable } from '../refusals.ts'
import type { AccountPayout, PayoutItem } from '../seller-accounts.ts'
import { bankReferenceOf } from '../shapes.ts'
import { fromStripe } from './amounts.ts'
import { listed, newDeadline } from './client.ts'
import { type BalanceTransaction, connectShapes } from './connect-entities.ts'
import { timeOf } from './snapshot.ts'

/** The payouts that were made since a moment, newest first. Negative ones, which Stripe collects from the bank, are left out. */
export async function* payoutsSince(stripe: Stripe, live: boolean, since: Date): AsyncGenerator<AccountPayout> {
  const created = { gte: Math.floor(since.getTime() / 1000) }
  const newestFirst = listed(connectShapes.payouts, newDeadline, (page, sent) =>
    stripe.payouts.list({ ...page, created }, sent),
  )
  for await (const one of newestFirst) {
    if (one.livemode !== live) throw new ProcessorUnavailable('Stripe told of a payout of the other mode')
    if (one.amount <= 0) continue
    yield {
      id: one.id,
      ...fromStripe(one.amount, one.currency),
      state: one.status === 'paid' ? 'paid' : one.status === 'failed' || one.status === 'canceled' ? 'failed' : 'sent',
      createdAt: timeOf(one.created),
      arrivesAt: timeOf(one.arrival_date),
      isCancelled: one.status === 'canceled',
      ...(one.failure_code && { failure: one.failure_code.replaceAll('_', ' ') }),
      ...bankReferenceOf(one.trace_id?.value),
      isItemised: one.reconciliation_status === 'completed',
    }
  }
}

/** The items of a payout (https://docs.stripe.com/payouts/reconciliation). Its own movement out of the balance is left out. */
export async function* payoutItems(stripe: Stripe, payout: string): AsyncGenerator<PayoutItem> {
  const all = listed(connectShapes.balanceTransactions, newDeadline, (page, sent) =>
    stripe.balanceTransactions.list({ ...page, payout }, sent),
  )
  for await (const one of all) {
    if (one.type === 'payout') continue
    yield {
      id: one.id,
      kind: kindOf(one),
      what: one.type,
      sourceId: one.source ?? undefined,
      amountMinor: signed(one.amount, one.currency),
      feeMinor: signed(one.fee, one.currency),
      at: timeOf(one.created),
    }
  }
}

const KINDS: Record<string, PayoutItem['kind']> = {
  charge: 'sale',
  payment: 'sale',
  refund: 'refund',
  payment_refund: 'refund',
  refund_failure: 'refund',
  payment_failure_refund: 'refund',
}

const kindOf = ({ type, source }: BalanceTransaction): PayoutItem['kind'] =>
  KINDS[type] ?? (/^(?:dp|du|pdp)_/.test(source ?? '') ? 'dispute' : 'other')

const signed = (amount: number, currency: string): number =>
  Math.sign(amount) * fromStripe(Math.abs(amount), currency).amountMinor
