import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { batched } from '../../kit/batch.ts'
import { type Db, type Tx, inTransaction, isDatabaseOutage, retryConflicts } from '../../kit/database.ts'
import { genericPlanArray } from '../../kit/plans.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Jobs, NewJob } from '../../kit/jobs.ts'
import type { PaymentSnapshot, RefundFact } from '../processor.ts'
import { PaymentUnknown } from '../refusals.ts'

/** A payment as the sandbox stores it. */
export type StoredPayment = PaymentSnapshot & {
  amountMinor: number
  currency: string
  /** Refunds that the sandbox has accepted and not finished. A snapshot shows only their keys. */
  refundsUnderWay?: RefundFact[]
  /** Refunds succeed some seconds later, fail some seconds later, or succeed at once and fail some seconds later. */
  refundsGo?: 'slowly' | 'wrong' | 'back'
}

/** Adds a job in the transaction of a change. */
export type AddJob = (queue: 'sandbox_notify' | 'sandbox_later' | 'sandbox_refund', job: NewJob) => void

/** Edits a payment, and returns a value for the caller. A `Refusal` leaves the payment as it was. */
export type Change<T> = (payment: StoredPayment, addJob: AddJob) => T

/** The sandbox's own table of payments. Requests that arrive together share a transaction. */
export interface SandboxPayments {
  /** Stores a new payment and returns its id, or the id of the payment that was stored for this key before. */
  start(key: string, payment: StoredPayment): Promise<string>
  /** Throws `PaymentUnknown`. */
  read(id: string): Promise<StoredPayment>
  /** Changes a payment. Refuses `payment_not_found`, and with every Refusal of `change`. */
  change<T>(id: string, change: Change<T>): Promise<T>
}

export const sandboxId = (kind: string): string => `sbx_${kind}_${randomBytes(12).toString('hex')}`

const TOGETHER = { most: 64, atOnce: 2, isOutage: isDatabaseOutage }

type Wanted = { id: string; change: Change<unknown> }
type Done = { value: unknown } | { refusal: Refusal }

export function sandboxPayments(db: Db, jobs: Jobs): SandboxPayments {
  const start = batched(
    (starts: readonly (readonly [string, StoredPayment])[]) => retryConflicts(() => insertPayments(db, starts)),
    TOGETHER,
  )
  const change = batched(
    (wanted: readonly Wanted[]) => inTransaction(db, (tx) => changePayments(tx, jobs, wanted)),
    TOGETHER,
  )
  return {
    start: (key, payment) => start([key, payment]),
    async read(id) {
      const { rows } = await sql<Row>`select id, payment from sandbox_payments where id = ${id}`.execute(db)
      if (!rows[0]) throw new PaymentUnknown('the sandbox does not know this payment')
      return rows[0].payment
    },
    async change<T>(id: string, edit: Change<T>) {
      const done = await change({ id, change: edit })
      if ('refusal' in done) throw done.refusal
      return done.value as T
    },
  }
}

interface Row {
  id: string
  payment: StoredPayment
}

async function insertPayments(db: Db, starts: readonly (readonly [string, StoredPayment])[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; key: string }>`
    insert into sandbox_payments (id, start_key, payment)
    select id, key, payment::jsonb from unnest(
      ${starts.map(([, { processorPaymentId }]) => processorPaymentId)}::text[], ${starts.map(([key]) => key)}::text[],
      ${starts.map(([, payment]) => JSON.stringify(payment))}::text[]) as s(id, key, payment)
    order by key
    on conflict (start_key) do update set start_key = excluded.start_key
    returning id, start_key as key`.execute(db)
  const ids = new Map(rows.map(({ id, key }) => [key, id]))
  return starts.map(([key]) => ids.get(key)!)
}

/** Locks the payments in the order of their ids, so that two rounds never wait for each other. */
async function changePayments(tx: Tx, jobs: Jobs, wanted: readonly Wanted[]): Promise<Done[]> {
  const { rows } = await sql<Row>`
    select id, payment from sandbox_payments where id = any(${genericPlanArray(
      wanted.map(({ id }) => id),
      'text',
    )}::text[]) order by id for update`.execute(tx)
  const stored = new Map(rows.map(({ id, payment }) => [id, payment]))
  const changed = new Set<string>()
  const added = new Map<string, NewJob[]>()
  const outcomes = wanted.map(({ id, change }): Done => {
    const before = stored.get(id)
    if (!before) return { refusal: new Refusal('payment_not_found', 'There is no such payment.') }
    const payment = structuredClone(before)
    const own: [string, NewJob][] = []
    try {
      const value = change(payment, (queue, job) => own.push([queue, job]))
      stored.set(id, payment)
      changed.add(id)
      for (const [queue, job] of own) added.set(queue, [...(added.get(queue) ?? []), job])
      return { value }
    } catch (error) {
      if (error instanceof Refusal) return { refusal: error }
      throw error
    }
  })
  const ids = [...changed]
  await sql`
    update sandbox_payments s set payment = n.payment::jsonb
    from unnest(${genericPlanArray(ids, 'text')}, ${ids.map((id) => JSON.stringify(stored.get(id)))}::text[]) as n(id, payment)
    where s.id = n.id`.execute(tx)
  for (const [queue, ofQueue] of added) await jobs.add(tx, queue, ofQueue)
  return outcomes
}
