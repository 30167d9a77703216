import type { Ends } from '../support/shop.ts'
import { type Order, brokenSeries, readUses } from './books.ts'
import { type Step, historyOf, play } from './history.ts'
import { problemsOf } from './invariants.ts'
import {
  accountsOff,
  problemsOfAccounts,
  problemsOfFeeAtTheEnd,
  problemsOfPayoutsAtTheEnd,
} from './connect-invariants.ts'
import { countPayouts, moneyOff, problemsOfPayouts } from './payout-invariants.ts'
import { settleDown, checkLinks, problemsAtTheEnd } from './final-checks.ts'
import { Random } from './random.ts'
import { paidTooMuch, problemsOfPasses, problemsOfPassesAtTheEnd } from './route-invariants.ts'
import { type Way, WAYS, wayOf } from './ways.ts'
import { Run } from './run.ts'
import type { BankPayment } from './bank-records.ts'
import { type World, startWorld } from './world.ts'

/** A history that should not have been possible. */
export interface Failure {
  seed: number
  problems: string[]
  /** The steps up to there, in words. */
  log: string[]
}

/** All of it, and how to see it again. */
export const failureReport = ({ seed, problems, log }: Failure, flags = ''): string =>
  [
    `seed ${seed}:`,
    ...log.map((line, at) => `${String(at + 1).padStart(3)}  ${line}`),
    ...problems.map((problem) => `  ✖  ${problem}`),
    `npm run simulate -- --runs 1 --seed ${seed}${flags}`,
  ].join('\n')

export interface Wanted {
  seed: number
  runs: number
  /** How often the service dies, beside the other kinds of steps (their weights sum up to some 100). */
  crashes?: number
  killed?: boolean
  /** Instead of the one that each seed has. */
  way?: Way
  /** Side by side, each in a world of its own. */
  lanes?: number
  onRun?: (seed: number, failure: Failure | undefined) => void
}

export interface Outcome {
  failure?: Failure
  /** How often orders ended in a state, and other things seen in them: histories in which nothing happens prove nothing. */
  seen: Record<string, number>
}

/** Plays the histories of `runs` seeds from `seed` on. After the first failure it begins no more. */
export async function simulate({
  seed,
  runs,
  lanes = 4,
  onRun,
  way: only,
  crashes = CRASHES,
  ...more
}: Wanted): Promise<Outcome> {
  let found: Failure | undefined
  const isOver = () => found !== undefined
  const seen: Outcome['seen'] = {}
  const seeds = Array.from({ length: runs }, (_, at) => seed + at)
  const left = new Map(WAYS.map((way) => [way, seeds.filter((one) => (only ?? wayOf(one)) === way)]))
  const most = () => [...left].sort(([, a], [, b]) => b.length - a.length)[0]!
  // a world has one way, so a lane plays some of its histories one after the other
  const perWorld = (way: Way) => Math.min(RUNS_PER_WORLD[way], Math.ceil(runs / lanes))
  const lane = async () => {
    for (let [way, seeds] = most(); !isOver() && seeds.length > 0; [way, seeds] = most()) {
      const mine = seeds.splice(0, perWorld(way))
      await inWorld({ ...more, way }, async (world) => {
        for (const one of mine) {
          if (isOver()) return
          seen[`way ${way}`] = (seen[`way ${way}`] ?? 0) + 1
          const failure = await runHistory(world, one, historyOf(one, { crashes, way }), seen)
          onRun?.(one, failure)
          found ??= failure
        }
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, runs) }, lane))
  return { seen, ...(found && { failure: found }) }
}

/** How often the service dies, where nothing else is wanted. */
export const CRASHES = 0.3
/** The banks remember everything, and are slower the more it is. The service reads all payouts of an account at each news of it. */
const RUNS_PER_WORLD: Record<Way, number> = { manual: 100, 'stripe-connect': 25, 'razorpay-route': 100 }

export async function inWorld<T>(
  { killed = false, way = 'manual' }: { killed?: boolean; way?: Way },
  work: (world: World) => Promise<T>,
): Promise<T> {
  const ends: (() => unknown)[] = []
  const t: Ends = { after: (end) => void ends.push(end) }
  try {
    return await work(await startWorld(t, { killed, way }))
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Plays a history, and looks after every step. */
export async function runHistory(
  world: World,
  seed: number,
  steps: readonly Step[],
  seen: Outcome['seen'] = {},
): Promise<Failure | undefined> {
  const count = (what: string) => (seen[what] = (seen[what] ?? 0) + 1)
  await world.calm()
  const run = new Run(world)
  run.moneyOff = await moneyOff(world.client)
  if (world.way === 'stripe-connect') run.accountsOff = await accountsOff(run)
  const log: string[] = []
  const last = new Map<string, Order>()
  const random = new Random(seed ^ 0x5eed)
  try {
    for (const step of steps) {
      const done = await play(run, step)
      if (done === undefined) continue
      log.push(`${step.kind}: ${done}`)
      count(`step ${step.kind}`)
      await world.delivered()
      await look(run, last)
      if (run.problems.length > 0) return { seed, problems: run.problems, log }
    }
    log.push(`calm: ${await settleDown(run, random)}`)
    const orders = await look(run, last)
    run.problems.push(...(await brokenSeries(world.client)))
    await checkLinks(run)
    if (world.way === 'stripe-connect') run.problems.push(...(await problemsOfConnect(run)))
    for (const what of await countPayouts(run)) count(what)
    for (const order of orders) {
      run.problems.push(...problemsAtTheEnd(order, run.truth([order.id]), { refused: world.way !== 'manual' }))
      if (world.way === 'stripe-connect') run.problems.push(...problemsOfFeeAtTheEnd(run, order))
      if (world.way === 'razorpay-route') run.problems.push(...problemsOfPassesAtTheEnd(run, order))
      for (const { kind } of order.transfers) if (kind.startsWith('passed_')) count(kind)
      count(`end ${order.state}`)
      if (order.taxMinor && order.isPaid) count('sale with tax')
      if (order.transfers.some(({ kind }) => kind === 'tax_refund')) count('tax back')
      for (const what of [...order.timeline, ...order.captures.map(({ purpose }) => `capture ${purpose}`)]) count(what)
      for (const { state, amountMinor, lostMinor } of order.disputes)
        if (state === 'lost' && lostMinor! < amountMinor) count('dispute lost in part')
    }
  } catch (error) {
    run.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  return run.problems.length > 0 ? { seed, problems: run.problems, log } : undefined
}

/** Everything that must hold at every moment. */
async function look(run: Run, last: Map<string, Order>): Promise<Order[]> {
  const orders = await run.read()
  const truth = run.truth(orders.map(({ id }) => id))
  for (const order of orders) {
    const mine = truth.filter(({ orderId }) => orderId === order.id)
    run.problems.push(...problemsOf(order, last.get(order.id), mine))
    last.set(order.id, order)
    const told = run.orders.find(({ orderId }) => orderId === order.id)?.payments ?? new Set()
    run.problems.push(...problemsOfPayable(order, mine, told, run.lostAccounts))
    if (run.world.way === 'razorpay-route') run.problems.push(...problemsOfPasses(run, order))
  }
  for (const { orderId } of run.orders)
    if (!orders.some(({ id }) => id === orderId)) run.problems.push(`${orderId} is gone`)
  if (run.code) {
    const { uses, held, late } = await readUses(run.world.client, run.code.id)
    if (uses !== held || uses - late > run.code.mostUses)
      run.problems.push(`a code for ${run.code.mostUses} is used ${uses} times by ${held} orders, ${late} of them late`)
  }
  run.problems.push(...run.strangeDeliveries(), ...(await problemsOfPayouts(run)))
  if (run.world.way === 'stripe-connect') run.problems.push(...(await problemsOfAccounts(run)))
  if (run.world.way === 'razorpay-route')
    run.problems.push(...run.world.earlyRefunds.splice(0), ...(await paidTooMuch(run)))
  return orders
}

/** When everything has happened: Stripe's payouts are here, and all money is where the books say. */
async function problemsOfConnect(run: Run): Promise<string[]> {
  const off = await accountsOff(run)
  return [
    ...(await problemsOfPayoutsAtTheEnd(run)),
    ...[...off]
      .filter(([currency, minor]) => minor !== (run.accountsOff.get(currency) ?? 0))
      .map(([currency, minor]) => `${minor} ${currency} at sellers’ accounts do not add up`),
  ]
}

/** The payments that a buyer can pay now, of those the service has started. Razorpay's orders stay payable until they are paid. */
function problemsOfPayable(
  order: Order,
  truth: readonly BankPayment[],
  told: ReadonlySet<string>,
  lostAccounts: ReadonlySet<string>,
): string[] {
  const payable = truth.filter(({ payable, bank }) => payable && bank)
  const toldAndPayable = payable.filter(({ id }) => told.has(id))
  const noted = new Set(order.payments.map(({ processorPaymentId: id }) => id))
  const started = Map.groupBy(
    payable.filter(({ startedAfter }) => startedAfter !== undefined),
    ({ startedAfter }) => startedAfter,
  )
  return [
    ...[...told].filter((id) => !noted.has(id)).map((id) => `its buyer can pay ${id}, which nobody knows`),
    ...(toldAndPayable.length > 1 ? [`${toldAndPayable.length} payments of it can be paid`] : []),
    // the idempotency key of an attempt gives one payment, however often the attempt is started
    ...[...started.values()]
      .filter((same) => same.length > 1)
      .map((same) => `${same.length} payments were started side by side: ${same.map(({ id }) => id).join(', ')}`),
    // the service closes a payment before it lets the order expire, but for one that it could not ask about for two weeks
    ...(order.state === 'expired'
      ? toldAndPayable
          .filter(({ processor }) => !lostAccounts.has(processor))
          .map(({ id }) => `it has expired, and its buyer can pay ${id}`)
      : []),
  ].map((problem) => `${order.id}: ${problem}`)
}

/** Finds fewer steps that fail too. Removing a step does not change the others. */
export async function shrink(world: World, failure: Failure, steps: readonly Step[], tries = 200): Promise<Step[]> {
  let best = [...steps]
  for (let size = Math.ceil(best.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length && tries > 0;) {
      const fewer = [...best.slice(0, at), ...best.slice(at + size)]
      tries--
      if (await runHistory(world, failure.seed, fewer)) best = fewer
      else at += size
    }
  }
  return best
}
