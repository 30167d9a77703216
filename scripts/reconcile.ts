// npm run reconcile                                      checks the books, and the money of the last 15 days and today
// npm run reconcile -- --days 90                         checks more days
// npm run reconcile -- --from 2026-01-01 --to 2026-01-31 checks these days
// Ends with 0: nothing differs; 1: something differs; 2: it could not be reconciled.
import { parseArgs } from 'node:util'
import { connect } from '../src/kit/database.ts'
import type { Jobs } from '../src/kit/jobs.ts'
import { newLog } from '../src/kit/log.ts'
import { decimalText } from '../src/kit/money.ts'
import type { Difference } from '../src/ledger/trial-balance.ts'
import { openProcessors } from '../src/processors/open.ts'
import { type Reconciliation, reconcileBooks } from '../src/payments/reconciliation/reconcile.ts'
import { NIGHTLY_DAYS, daysBefore } from '../src/payments/reconciliation/nightly.ts'
import { storedPayments } from '../src/payments/stored-payments.ts'
import { sandboxProcessor } from '../src/processors/sandbox/sandbox.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'

const DAY_MS = 86_400_000
const [RECONCILED, DIFFERS, NOT_RECONCILED] = [0, 1, 2]
const KIND_WORDS = { capture: 'captured', refund: 'refunded', dispute: 'disputed', transfer: 'passed on' }

/** A reconciliation enqueues no jobs. */
const nothing = async () => {}
const NO_JOBS: Jobs = { add: nothing, on: nothing, every: nothing, never: nothing, rest: nothing, stop: nothing }

const span = readSpan()
const config = settingsOrExit(NOT_RECONCILED)
let database: Awaited<ReturnType<typeof ownDatabase>> | undefined
let status = NOT_RECONCILED
try {
  const began = performance.now()
  database = await ownDatabase(config)
  const result = await reconcileWith(database.url)
  print(result, (performance.now() - began) / 1000)
  status = result.differences.length > 0 ? DIFFERS : leftOut(result).length > 0 ? NOT_RECONCILED : RECONCILED
} catch (error) {
  console.error(`It could not be reconciled: ${(error as Error).message}`)
}
await database?.stop()
process.exit(status)

async function reconcileWith(url: string): Promise<Reconciliation> {
  const database = { connectionString: url }
  const { db, close } = connect(database, { connections: 4 })
  const processors = await openProcessors(
    {
      processors: config.processors,
      stripe: config.stripe,
      razorpay: config.razorpay,
      statementPrefix: config.statementPrefix,
      stored: storedPayments(db),
      sandbox: () => sandboxProcessor(db, NO_JOBS, config.secrets),
    },
    newLog('silent'),
  )
  try {
    return await reconcileBooks({ database, processors, ...span })
  } finally {
    await close()
  }
}

/**
 * Names the processors and accounts that were not compared. A processor that the command was not asked for counts too, because its keys
 * may have been forgotten. So does the account of a seller who has ended the access.
 */
function leftOut({ notAsked, notConfigured, noAccess }: Reconciliation): string[] {
  return [
    ...notAsked,
    ...notConfigured.map((name) => `${name}: is not configured, but has captures from these days`),
    ...noAccess.map((name) => `${name}: gives no access any more, but has captures from these days`),
  ]
}

function print(result: Reconciliation, seconds: number): void {
  const { days, differences, from, to } = result
  const skipped = leftOut(result)
  const last = new Date(to.getTime() - 1)
  console.log(`\nMoney that moved, ${dayOf(from)} to ${dayOf(last)} (days of UTC)\n`)
  const rows = days.map((one) => {
    const equal = one.listed === one.ours && one.listedMinor === one.ourMinor
    const money = (minor: number) => decimalText(minor, one.currency)
    const sides = [String(one.listed), money(one.listedMinor), String(one.ours), money(one.ourMinor)]
    return [one.day, one.currency, one.processor, KIND_WORDS[one.kind], ...sides, equal ? '' : '≠']
  })
  const head = ['day', 'currency', 'processor', '', 'there', 'amount', 'here', 'amount', '']
  const widths = head.map((text, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length), text.length))
  const line = (row: string[]) =>
    row.map((text, at) => (at < 4 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!)))
  for (const row of rows.length > 0 ? [head, ...rows] : []) console.log(`  ${line(row).join('  ').trimEnd()}`)
  if (rows.length === 0) console.log('  none')

  console.log()
  for (const difference of differences) console.log(`  ${describe(difference)}`)
  for (const why of skipped) console.log(`  not asked    ${why}`)
  if (differences.length + skipped.length > 0) console.log()
  const verdict =
    differences.length > 0
      ? `NOT EQUAL: ${differences.length} difference${differences.length === 1 ? '' : 's'}.`
      : skipped.length > 0
        ? 'Not reconciled: not every processor could be asked. Nothing differs in the rest.'
        : 'Reconciled: the books, the orders and the processors’ lists agree.'
  console.log(`${verdict} (${seconds.toFixed(1)} s)`)
}

function describe({ what, id, orderId, currency, expectedMinor, foundMinor }: Difference): string {
  const money = (minor: number | null | undefined) =>
    minor === null || minor === undefined
      ? 'nothing'
      : `${decimalText(minor, currency ?? 'USD')} ${currency ?? ''}`.trim()
  const order = orderId && orderId !== id ? `  ${orderId}` : ''
  // some differences, such as one of a state, have no amount
  if ((expectedMinor ?? foundMinor ?? null) === null) return `${what}  ${id}${order}`
  return `${what}  ${id}${order}  should be ${money(expectedMinor)}, is ${money(foundMinor)}`
}

function readSpan(): { from: Date; to: Date } {
  const days = { days: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' } } as const
  const day = (text: string) => {
    const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
    // Date.parse reads 2026-02-31 as a day of March
    const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
    return isDay ? time : fail(`${text}: expected a day, such as 2026-01-31`)
  }
  try {
    const { values } = parseArgs({ options: days })
    const count = Number(values.days ?? NIGHTLY_DAYS)
    if (!Number.isInteger(count) || count < 0 || count > 3650) fail('--days: expected a number from 0 to 3650')
    const to = values.to === undefined ? new Date() : new Date(day(values.to) + DAY_MS)
    const from = values.from === undefined ? daysBefore(new Date(to.getTime() - 1), count) : new Date(day(values.from))
    if (from >= to) fail('--from is later than --to')
    return { from, to }
  } catch (error) {
    return fail((error as Error).message)
  }
}

function fail(message: string): never {
  console.error(message)
  process.exit(NOT_RECONCILED)
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}
