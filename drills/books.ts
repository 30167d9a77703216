import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { watch } from '../bench/children.ts'
import { type Database, query } from '../bench/world.ts'

const RECONCILE = fileURLToPath(new URL('../scripts/reconcile.ts', import.meta.url))
const LOOK_MS = 250
const IS_RECEIPT = `subject like 'Your receipt%'`
const QUEUES = `'mail', 'refund', 'sandbox_notify'`

export interface Standing {
  orders: number
  paid: number
  receipts: number
  /** Notifications, mails and refunds that are not finished. */
  jobs: number
}

export async function standing(database: Database): Promise<Standing> {
  const [row] = await query<Standing>(
    database,
    `select (select count(*) from orders)::int as orders, (select count(*) from orders where state = 'paid')::int as paid,
      (select count(*) from outbox where ${IS_RECEIPT})::int as receipts,
      (select count(*) from pgboss.job where name in (${QUEUES}) and state in ('created', 'retry', 'active'))::int
        + (select count(*) from begun_jobs)::int as jobs`,
  )
  return row!
}

/** Waits until all receipts are written and no job is left, so that a second receipt or refund would show too. */
export async function settled(database: Database, receipts: number, withinMs: number): Promise<void> {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(LOOK_MS)) {
    const now = await standing(database)
    if (now.receipts >= receipts && now.jobs === 0) return
  }
}

export interface Receipts {
  /** Paid orders without a receipt, or with several. */
  notOne: number
  /** From the payment to the receipt, in seconds, sorted. */
  waits: number[]
}

/** Each buyer has an address of its own, so a receipt belongs to the order with its address. */
export async function readReceipts(database: Database): Promise<Receipts> {
  const rows = await query<{ receipts: number; seconds: number | null }>(
    database,
    `select count(m.id)::int as receipts, extract(epoch from max(m.sent_at) - o.paid_at)::float8 as seconds
      from orders o left join outbox m on m.recipient = o.email and m.${IS_RECEIPT}
      where o.state = 'paid' group by o.id`,
  )
  return {
    notOne: rows.filter(({ receipts }) => receipts !== 1).length,
    waits: rows.flatMap(({ seconds }) => seconds ?? []).sort((a, b) => a - b),
  }
}

export interface Charges {
  /** Orders of which the bank holds more than the price. */
  tooMuch: number
  /** Second payments of an order. They go back, and else count above. */
  duplicates: number
}

/** Reads the bank's own records and not only ours. */
export async function readCharges(database: Database): Promise<Charges> {
  const sumOf = (list: string, condition = '') =>
    `(select coalesce(sum((fact->>'amountMinor')::bigint), 0) from jsonb_array_elements(s.payment->'${list}') fact ${condition})`
  const [row] = await query<Charges>(
    database,
    `select (select count(*)::int from captures where purpose = 'duplicate') as duplicates,
      (select count(*)::int from (
        select from orders o join sandbox_payments s on s.payment->>'orderId' = o.id group by o.id
        having sum(${sumOf('captures')} - ${sumOf('refunds', `where fact->>'state' is distinct from 'failed'`)}) > o.amount_minor
      ) charged) as "tooMuch"`,
  )
  return row!
}

/** Runs `npm run reconcile`, and returns how it ended and its last line. */
export async function reconcile(env: Record<string, string>): Promise<{ status: number; verdict: string }> {
  const child = watch(
    spawn(process.execPath, [RECONCILE], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const [status] = (await once(child, 'close')) as [number]
  if (status !== 0) console.error(printed)
  return { status, verdict: printed.trim().split('\n').at(-1) ?? '' }
}
