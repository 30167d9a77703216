import { approve, propose } from './payouts.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

// The actions of Razorpay, and of the person at its dashboard, on the transfers to the seller's linked account.

type Transfer = Record<string, any>

/** The transfers of an order: the one that was made with it, and those of its payments. */
export function transfersOf({ world: { razorpay } }: Run, orderId: string): Transfer[] {
  const orders = [...razorpay.orders.values()].filter(({ notes }) => notes.order_id === orderId).map(({ id }) => id)
  const payments = [...razorpay.payments.values()].filter(({ order_id: id }) => orders.includes(id)).map(({ id }) => id)
  return [...orders, ...payments].flatMap((id) => razorpay.route.of(String(id)))
}

const ours = (run: Run): Transfer[] => run.orders.flatMap(({ orderId }) => transfersOf(run, orderId))

/** The next transfers get another outcome when their orders are paid. */
export function changeTransfers(run: Run, random: Random): string {
  const become = random.weighted({ processed: 4, pending: 3, failed: 4 })
  run.world.razorpay.route.transfersBecome = become
  return `transfers are ${become}`
}

/** Razorpay goes on with a transfer that waits, or tries one again that failed: on three days. */
export function decideTransfer(run: Run, random: Random): string | undefined {
  const { route } = run.world.razorpay
  const open = ours(run).filter(
    ({ id, status }) => status === 'pending' || (status === 'failed' && !run.finalTransfers.has(id)),
  )
  const one = random.pickAny(open)
  if (!one) return undefined
  const was = String(one['status'])
  const fails = was === 'pending' && random.chance(0.4)
  if (fails) route.fail(one['id'])
  else pass(run, one)
  return `a transfer that was ${was} is ${fails ? 'failed' : 'processed'}`
}

/** The money goes on. If a refund had begun by then, its part is taken back afterwards. */
function pass(run: Run, { id }: Transfer): void {
  run.latePasses.add(id)
  run.world.razorpay.route.process(id)
}

/** The operator makes a transfer that had failed, and Razorpay does not try it again. */
export function transferInDashboard(run: Run, random: Random): string | undefined {
  const { route, orders, payments } = run.world.razorpay
  const failed = ours(run).filter(({ id, source, status }) => status === 'failed' && orders.has(source) && !run.finalTransfers.has(id)) // oxfmt-ignore
  const one = random.pickAny(failed)
  const payment = one && [...payments.values()].find(({ order_id: id, captured }) => id === one['source'] && captured)
  if (!payment) return undefined
  run.finalTransfers.add(one['id'])
  const made = route.transferInDashboard(payment.id, one['recipient'], one['amount'])
  run.latePasses.add(made.id)
  return `the operator makes a transfer of ${one['amount']} in the dashboard`
}

/** All that is at the linked account goes to the seller's bank, and cannot come back; or money of other sales comes in. */
export async function settleLinked(run: Run, random: Random): Promise<string | undefined> {
  const { razorpay, account } = run.world
  const id = await account.id()
  if (id === undefined) return undefined
  const goes = random.chance(0.5)
  if (goes) razorpay.route.settle(id)
  else razorpay.route.fill(id)
  return goes ? 'the linked account is settled to its bank' : 'other money comes to the linked account'
}

export async function changeLinked(run: Run, random: Random): Promise<string | undefined> {
  const { razorpay, account } = run.world
  const id = await account.id()
  if (id === undefined) return undefined
  const standing = random.weighted({ activated: 5, needs_clarification: 1, under_review: 1, suspended: 0.5 })
  razorpay.route.stand(id, standing, standing === 'needs_clarification' ? ['kyc.pan'] : [])
  return `the linked account is ${standing}`
}

/** Our own job: checks that the money at the linked account is the money that belongs there. */
export async function lookAtPasses(run: Run): Promise<string> {
  await lookNow(run)
  return 'the service looks at what is passed on'
}

export async function lookNow({ world, orders }: Run): Promise<void> {
  await world.client.query(`update passes set look_at = now(), looks = 0 where order_id = any($1)`, [
    orders.map(({ orderId }) => orderId),
  ])
  await world.runJob('look_at_passes')
}

/**
 * The holding period ends for the money of the orders. By then Razorpay has decided about each transfer for good, and the service has
 * heard of it: it looks each day.
 */
export async function daysPass(run: Run, random: Random): Promise<string> {
  const { world } = run
  world.works()
  for (const one of ours(run)) {
    if (one['status'] === 'pending' && random.chance(0.5)) pass(run, one)
    else if (one['status'] === 'pending') world.razorpay.route.fail(one['id'])
    if (one['status'] === 'failed') run.finalTransfers.add(one['id'])
  }
  await world.delivered()
  await lookNow(run)
  const old = (await run.read()).filter(({ id, transfers }) => {
    const booked = transfers.reduce((sum, { kind, amountMinor }) => sum + (kind === 'passed_on' ? amountMinor : 0), 0)
    return booked === passedOf(transfersOf(run, id))
  })
  const client = await world.client.connect()
  try {
    await client.query(`set simulation.ages = 'on'`)
    await client.query(`update transfers set created_at = created_at - interval '6 days' where order_id = any($1)`, [
      old.map(({ id }) => id),
    ])
    await client.query(`reset simulation.ages`)
  } finally {
    client.release()
  }
  return `six days pass for the money of ${old.length} orders`
}

/** The holding period ends, and the operator pays by bank the money that Razorpay has not passed on. */
export async function payByBank(run: Run, random: Random): Promise<string> {
  const days = await daysPass(run, random)
  const proposed = await propose(run, random)
  const approved = await approve(run, random)
  return [days, proposed, approved].filter((one) => one !== undefined).join('; ')
}

export const isPassed = ({ status }: Transfer): boolean => /processed|reversed/.test(status)
export const passedOf = (transfers: readonly Transfer[]): number =>
  transfers.filter(isPassed).reduce((sum, { amount }) => sum + amount, 0)
export const reversedOf = (transfers: readonly Transfer[]): number =>
  transfers.reduce((sum, { amount_reversed: reversed }) => sum + reversed, 0)
