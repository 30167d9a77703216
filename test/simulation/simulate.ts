import type { Ends } from '../support/shop.ts'
import { type Order, brokenSeries, readUses } from './books.ts'
import { type Step, historyOf, play } from './history.ts'
import { problemsOf } from './invariants.ts'
import { countPayouts, moneyOff, problemsOfPayouts } from './payout-invariants.ts'
import { settleDown, checkLinks, problemsAtTheEnd } from './final-checks.ts'
import { Random } from './random.ts'
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
  /** How often the service dies, beside the other kinds of steps (their weights sum up to some 75). */
  crashes?: number
  killed?: boolean
  /** Side by side, each in a world of its own. */
  lanes?: number
  onRun?: (seed: number, failure: Failure | undefined) => void
}

export interface Outcome {
  failure?: Failure
  /** How often orders ended in a state, and what else was seen in them: histories in which nothing happens prove nothing. */
  seen: Record<string, number>
}

/** Plays the histories of `runs` seeds from `seed` on. Ends at the first failure, and what else is under way then. */
export async function simulate({ seed, runs, lanes = 4, onRun, ...more }: Wanted): Promise<Outcome> {
  let next = seed
  let found: Failure | undefined
  const seen: Outcome['seen'] = {}
  const isOver = () => next >= seed + runs || found !== undefined
  const lane = async () => {
    while (!isOver())
      await inWorld(more, async (world) => {
        for (let i = 0; i < RUNS_PER_WORLD && !isOver(); i++) {
          const mine = next++
          const failure = await runHistory(world, mine, historyOf(mine, { crashes: more.crashes ?? CRASHES }), seen)
          onRun?.(mine, failure)
          found ??= failure
        }
      })
  }
  await Promise.all(Array.from({ length: Math.min(lanes, runs) }, lane))
  return { seen, ...(found && { failure: found }) }
}

/** How often the service dies, where nothing else is wanted. */
export const CRASHES = 0.3
/** The banks remember everything, and are slower the more it is. */
const RUNS_PER_WORLD = 100

export async function inWorld<T>(
  { killed = false }: { killed?: boolean },
  work: (world: World) => Promise<T>,
): Promise<T> {
  const ends: (() => unknown)[] = []
  const t: Ends = { after: (end) => void ends.push(end) }
  try {
    return await work(await startWorld(t, { killed }))
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
    for (const what of await countPayouts(run)) count(what)
    for (const order of orders) {
      run.problems.push(...problemsAtTheEnd(order, run.truth([order.id])))
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
    run.problems.push(...problemsOfPayable(order, mine, told))
  }
  for (const { orderId } of run.orders)
    if (!orders.some(({ id }) => id === orderId)) run.problems.push(`${orderId} is gone`)
  if (run.code) {
    const { uses, held, late } = await readUses(run.world.client, run.code.id)
    if (uses !== held || uses - late > run.code.mostUses)
      run.problems.push(`a code for ${run.code.mostUses} is used ${uses} times by ${held} orders, ${late} of them late`)
  }
  run.problems.push(...run.strangeDeliveries(), ...(await problemsOfPayouts(run)))
  return orders
}

/** The payments that a buyer can pay now, of those the service has started. Razorpay's orders stay payable until they are paid. */
function problemsOfPayable(order: Order, truth: readonly BankPayment[], told: ReadonlySet<string>): string[] {
  const payable = truth.filter(({ payable, processor }) => payable && processor === 'stripe')
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
    // the service closes a payment before it lets the order expire
    ...(order.state === 'expired' ? toldAndPayable.map(({ id }) => `it has expired, and its buyer can pay ${id}`) : []),
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
