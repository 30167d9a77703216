import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../kit/database.ts'
import { isId } from '../../kit/ids.ts'
import type { Difference } from '../../ledger/trial-balance.ts'
import { accountOf } from '../../processors/connected.ts'
import type { PaymentSnapshot, Processor } from '../../processors/processor.ts'
import { PaymentUnknown } from '../../processors/refusals.ts'
import { OURS, type Suspect } from './listed.ts'

const ASKED_AT_ONCE = 4

/** A movement of money, as the processor or our database knows it. */
interface Fact {
  kind: 'capture' | 'refund' | 'dispute' | 'transfer'
  id: string
  amountMinor: number
  currency: string
  /** Milliseconds since 1970, if known. */
  at?: number | undefined
  /** The state of a dispute. */
  state?: string | null | undefined
  /** When settle booked that a dispute was won. */
  wonAt?: number | null | undefined
  /** Of a refund that the processor makes when a dispute is lost: that dispute. */
  disputeId?: string | undefined
}

export interface Answers {
  differences: Difference[]
  /** Payments on which both sides agree, or which are not ours. */
  resolved: Suspect[]
  /** Payments about which the processor gave no answer. */
  notAsked: Suspect[]
}

/**
 * Asks the processors about single payments. A list and our rows can differ although nothing is wrong: a notification is under way,
 * a refund was booked long after it was made, or a dispute is in another currency. So the reconciliation asks about each payment in
 * question, waits `graceMs` for late events to be booked, and reports only payments that still differ.
 */
export async function askAbout(
  db: Db,
  processors: ReadonlyMap<string, Processor>,
  list: readonly Suspect[],
  graceMs: number,
): Promise<Answers> {
  const askedAt = Date.now()
  const snapshots = new Map<Suspect, PaymentSnapshot | 'unknown'>()
  const notAsked: Suspect[] = []
  const queue = [...list]
  const lane = async () => {
    for (let suspect; (suspect = queue.shift());) {
      try {
        const processor = processors.get(suspect.processor)!
        // without an answer about the transfers, those that are booked would look as if the processor had none
        snapshots.set(suspect, await processor.fetchPayment(suspect.payment, undefined, { needsTransfers: true }))
      } catch (error) {
        if (error instanceof PaymentUnknown) snapshots.set(suspect, 'unknown')
        else notAsked.push(suspect)
      }
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, lane))
  if (snapshots.size > 0) await sleep(graceMs)

  const ours = await oursOf(db, list)
  const found: Difference[] = []
  const resolved: Suspect[] = []
  for (const [suspect, snapshot] of snapshots) {
    const all = differencesOf(suspect, snapshot, ours.get(keyOf(suspect)) ?? [], askedAt)
    // the reconciliation of its own days has reported all other differences
    const differences = suspect.differs ? all : all.filter(({ what }) => what.startsWith('dispute_'))
    if (differences.length === 0) resolved.push(suspect)
    found.push(...differences)
  }
  return { differences: found, resolved, notAsked }
}

function differencesOf(
  suspect: Suspect,
  snapshot: PaymentSnapshot | 'unknown',
  ours: readonly Fact[],
  askedAt: number,
): Difference[] {
  const claimed = snapshot === 'unknown' ? undefined : snapshot.orderId
  const isOurs = accountOf(suspect.processor) ? suspect.orderId !== null : claimed && isId('ord', claimed)
  if (!suspect.isKnown && !isOurs) return []
  const theirs = snapshot === 'unknown' ? [] : factsOf(snapshot)
  const found: Difference[] = []
  const differ = (what: string, { kind, id, currency }: Fact, expected: Fact | undefined, is: Fact | undefined) =>
    found.push({
      what,
      id: `${suspect.processor}:${kind}:${id}`,
      orderId: suspect.orderId ?? claimed ?? null,
      currency,
      expectedMinor: expected?.amountMinor ?? null,
      foundMinor: is?.amountMinor ?? null,
    })
  for (const their of theirs) {
    const our = ours.find(({ kind, id }) => kind === their.kind && id === their.id)
    const isLost = ({ kind, id, state }: Fact) => kind === 'dispute' && id === their.disputeId && state === 'lost'
    // settle has booked its money as the loss
    if (!our && ours.some(isLost)) continue
    if (!our) differ('only_at_processor', their, their, undefined)
    // a decision can come with another amount. It is final here: the operator reads that the bank takes won money after all
    else if (our.state === 'open' && their.state !== 'open') differ('dispute_decided', their, undefined, undefined)
    else if (our.state === 'won' && (our.wonAt ?? 0) < askedAt && their.state !== 'won')
      differ('dispute_reopened', their, undefined, undefined)
    else if (our.state === 'lost' && their.state === 'won') differ('dispute_won_late', their, undefined, undefined)
    else if (our.amountMinor !== their.amountMinor || our.currency !== their.currency)
      differ('amount_differs', their, their, our)
    else if (their.kind === 'capture' && dayOf(our) !== dayOf(their)) differ('day_differs', their, their, our)
  }
  for (const our of ours) {
    // settle booked it after the processor had answered
    const isNews = our.at !== undefined && our.at >= askedAt
    if (!isNews && !theirs.some(({ kind, id }) => kind === our.kind && id === our.id))
      differ('only_here', our, undefined, our)
  }
  return found
}

function factsOf({ captures, refunds, disputes, transfers = [] }: PaymentSnapshot): Fact[] {
  const currencyOf = (captureId: string) => captures.find(({ id }) => id === captureId)?.currency ?? ''
  // the processor has the money of a failed refund again
  const isMade = (refund: object) => !('state' in refund && refund.state === 'failed')
  return [
    ...captures.map(({ id, amountMinor, currency, capturedAt }): Fact => {
      return { kind: 'capture', id, amountMinor, currency, at: Date.parse(capturedAt) }
    }),
    ...refunds.filter(isMade).map(({ id, captureId, amountMinor, disputeId }): Fact => {
      return { kind: 'refund', id, amountMinor, currency: currencyOf(captureId), disputeId }
    }),
    ...disputes.map(({ id, captureId, amountMinor, state }): Fact => {
      return { kind: 'dispute', id, amountMinor, currency: currencyOf(captureId), state }
    }),
    ...transfers
      .filter(({ state }) => state === 'passed')
      .map(({ id, amountMinor, reversedMinor, currency, madeAt }): Fact => {
        return { kind: 'transfer', id, amountMinor: amountMinor - reversedMinor, currency, at: Date.parse(madeAt) }
      }),
  ]
}

async function oursOf(db: Db, list: readonly Suspect[]): Promise<Map<string, Fact[]>> {
  const { rows } = await sql<Fact & { processor: string; payment: string }>`
    select o.processor, o.payment, o.kind, o.id, o.amount_minor as "amountMinor", o.currency,
      (extract(epoch from o.at) * 1000)::bigint as at, o.state,
      (select extract(epoch from t.created_at) * 1000 from transfers t
        where o.state = 'won' and t.kind = 'dispute_release' and t.cause = o.processor || ':dispute:' || o.id)::bigint as "wonAt"
    from ${OURS} o
    join unnest(${list.map((one) => one.processor)}::text[], ${list.map((one) => one.payment)}::text[]) as s(processor, payment)
      on s.processor = o.processor and s.payment = o.payment`.execute(db)
  return Map.groupBy(rows, keyOf)
}

const keyOf = ({ processor, payment }: { processor: string; payment: string }): string => `${processor} ${payment}`

const dayOf = ({ at }: Fact): number => Math.floor((at ?? 0) / 86_400_000)
