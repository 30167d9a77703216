import type pg from 'pg'
import { type Db, inTransaction, patiently } from '../kit/database.ts'
import type { Deadlines } from '../kit/deadlines.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_MINUTE, EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Log } from '../kit/log.ts'
import type { Processor } from '../processors/processor.ts'
import type { Browsers } from '../sellers/guard.ts'
import { attemptKeeper } from './attempts/attempts.ts'
import { closePayments } from './attempts/close.ts'
import { type OrderToPay, startPayment } from './attempts/start.ts'
import { fillIn } from './fill-in.ts'
import { registerReconciliation } from './reconciliation/nightly.ts'
import { registerRefundJobs, resumeRefunds } from './refunds/refund.ts'
import { registerFeeReturns } from './refunds/return-fee.ts'
import { lookAtPasses, registerTakeBacks } from './refunds/take-back.ts'
import { refundRoutes } from './refunds/routes.ts'
import { webhookRoutes } from './routes.ts'
import { repairParts } from './settle/parts.ts'
import { settler } from './settle/settle.ts'
import { sweepEvents } from './settle/unseen-events.ts'
import { backfill } from './sync/backfill.ts'
import { registerSyncLater } from './sync/later.ts'
import { syncDue, syncOrder } from './sync/sync.ts'
import { type Reading, orderWaits } from './waits.ts'

/** Before the reconciliation. */
const FILL_IN_AT = '7 3 * * *'
const RESUME_REFUNDS_AT = '47 3 * * *'

interface PaymentsParts {
  db: Db
  /** Settles and takes notifications, however busy the other connections are. */
  reservedDb: Db
  /** The reconciliation reads the books on a connection of its own. */
  database: pg.PoolConfig
  jobs: Jobs
  processors: ReadonlyMap<string, Processor>
  browsers: Browsers
  config: {
    orderTtlHours: { bank: number }
    retention: { eventDays: number }
    deadlines: Pick<Deadlines, 'syncBudgetMs' | 'syncPauseMs' | 'webhookAskMs' | 'statusWaitMs'>
  }
  log: Log
}

/** The ways in which others start and sync payments. */
export interface Payments {
  /** See startPayment(). */
  start(preferred: Processor, order: OrderToPay): ReturnType<typeof startPayment>
  /** See syncOrder(). */
  sync(orderId: string): Promise<boolean>
  /** Reads an order. While it waits for its payment, see OrderWaits.read(). */
  readSettled<T>(orderId: string, reading: Omit<Reading<T>, 'ms'>): Promise<T>
  /** See syncDue(). A job calls it each minute. */
  syncDue(): Promise<number>
  /** See backfill(). A job calls it each minute. */
  backfill(): Promise<void>
}

/** Registers the routes for refunds and notifications, and the jobs that bring payments, refunds and the books to their end. */
export async function registerPayments(
  server: Server,
  { db, reservedDb, database, jobs, processors, browsers, config, log }: PaymentsParts,
): Promise<Payments> {
  const { deadlines } = config
  const waits = orderWaits()
  const settle = settler(reservedDb, jobs, { bankTtlHours: config.orderTtlHours.bank, onSettled: waits.end })
  const attempts = attemptKeeper(db)
  const syncing = { db, processors, settle, log }
  const payments: Payments = {
    start: (preferred, order) => startPayment({ ...syncing, jobs, attempts }, preferred, order),
    sync: (orderId) => syncOrder(syncing, orderId, deadlines),
    readSettled: (orderId, reading) => waits.read(orderId, { ...reading, ms: deadlines.statusWaitMs }),
    syncDue: () => syncDue({ ...syncing, attempts }),
    backfill: () => backfill({ ...syncing, jobs }),
  }

  refundRoutes(server, { db, jobs, browsers })
  await webhookRoutes(server, {
    db: reservedDb,
    jobs,
    processors,
    settle,
    log,
    askMs: deadlines.webhookAskMs,
    onAccountNews: (name) => inTransaction(reservedDb, (tx) => jobs.add(tx, 'read_account', [{ data: { name } }])),
  })

  await registerRefundJobs(jobs, syncing)
  await registerFeeReturns(jobs, syncing)
  await registerTakeBacks(jobs, syncing)
  await jobs.every(EVERY_MINUTE, 'look_at_passes', () => lookAtPasses(syncing, jobs))
  await jobs.every(RESUME_REFUNDS_AT, 'resume_refunds', () => resumeRefunds(db, jobs))
  await closePayments(jobs, { processors, settle })
  await jobs.every(EVERY_MINUTE, 'sync_due', async () => void (await payments.syncDue()), 'reconcile')
  await registerSyncLater(jobs, { processors, settle, log })
  await jobs.every(EVERY_MINUTE, 'backfill', payments.backfill, 'catch_up')
  await jobs.every(FILL_IN_AT, 'fill_in', () => patiently(database, fillIn))
  await registerReconciliation(jobs, { db, database, processors, log })
  await jobs.every(EVERY_TEN_MINUTES, 'repair_parts', () => repairParts(db))
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_events', async () => {
    await sweepEvents(db, config.retention.eventDays)
  })
  return payments
}
