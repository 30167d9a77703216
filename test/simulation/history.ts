import * as banks from './banks.ts'
import * as connect from './connect.ts'
import * as route from './route.ts'
import * as buyers from './buyers.ts'
import { crash, loseDatabase } from './crash.ts'
import * as payouts from './payouts.ts'
import { Random } from './random.ts'
import type { Run } from './run.ts'
import * as sellers from './sellers.ts'
import * as weather from './environment.ts'
import type { Way } from './ways.ts'

// One number makes a history. Each of its steps has a number of its own for its own choices, so the rest of a shortened history
// does the same as before. No number decides the order in which sockets are served: a history that fails by a race may need some
// tries.

export interface Step {
  kind: Kind
  seed: number
}

type Play = (run: Run, random: Random) => Promise<string | undefined> | string | undefined

/** The possible events, with their weights. */
const STEPS = {
  order: [3, buyers.order],
  orderByCode: [3, buyers.orderByCode],
  orderAgain: [2, buyers.orderAgain],
  pay: [10, buyers.pay],
  payTwice: [2, buyers.payTwice],
  ask: [6, buyers.ask],
  decide: [6, banks.decide],
  takeWrongly: [1, banks.takeWrongly],
  refundInDashboard: [3, banks.refundInDashboard],
  decideRefund: [4, banks.decideRefund],
  refund: [4, sellers.refund],
  refundAgain: [1, sellers.refundAgain],
  failRefundLate: [3, (run: Run, random: Random) => banks.decideRefund(run, random, true)],
  dispute: [4, banks.dispute],
  decideDispute: [10, banks.decideDispute],
  closeInDashboard: [1, banks.closeInDashboard],
  changePost: [4, weather.changePost],
  deliver: [5, weather.deliver],
  forge: [1, weather.forge],
  tellStrangely: [1, weather.tellStrangely],
  failProcessor: [4, weather.failProcessor],
  mendProcessor: [2, weather.mendProcessor],
  syncDue: [4, weather.syncDue],
  passTime: [8, weather.passTime],
} as const satisfies Record<string, readonly [number, Play]>
type Simple = keyof typeof STEPS

/** The operator's steps about payouts. These have numbers of their own, so that all else in a history is as it was before them. */
const PAYOUT_STEPS = {
  proposeRun: [6, payouts.propose],
  approveRun: [8, payouts.approve],
  cancelRun: [1, payouts.cancel],
  takeFiles: [6, payouts.takeFiles],
  sendRun: [6, payouts.send],
  markPayout: [12, payouts.mark],
  adjust: [3, payouts.adjust],
  changeDetails: [1, payouts.changeDetails],
} as const satisfies Record<string, readonly [number, Play]>
type PayoutStep = keyof typeof PAYOUT_STEPS

/** Steps where sellers have accounts of their own at Stripe. */
const CONNECT_STEPS = {
  changeAccount: [6, connect.changeAccount],
  changeAccess: [2, connect.changeAccess],
  openAccount: [3, connect.openAccount],
  payOutAtStripe: [10, connect.payOut],
  endPayoutAtStripe: [10, connect.endPayout],
  moveElsewhere: [2, connect.moveElsewhere],
  readAccounts: [4, connect.readAccounts],
} as const satisfies Record<string, readonly [number, Play]>

/** Steps where Razorpay passes sellers' money on. The operator pays by bank the money that Razorpay could not pass on. */
const ROUTE_STEPS = {
  changeTransfers: [8, route.changeTransfers],
  decideTransfer: [12, route.decideTransfer],
  transferInDashboard: [4, route.transferInDashboard],
  settleLinked: [4, route.settleLinked],
  changeLinked: [3, route.changeLinked],
  lookAtPasses: [5, route.lookAtPasses],
  daysPass: [4, route.daysPass],
  payByBank: [8, route.payByBank],
  ...PAYOUT_STEPS,
} as const satisfies Record<string, readonly [number, Play]>

type WayStep = keyof typeof CONNECT_STEPS | keyof typeof ROUTE_STEPS
type Composite = 'together' | 'loseDatabase' | 'crash' | 'payoutsTogether' | 'payoutsCrash'
export type Kind = Simple | PayoutStep | WayStep | Composite

const weightsOf = <Name extends string>(steps: Record<Name, readonly [number, Play]>) =>
  Object.fromEntries(
    Object.entries<readonly [number, Play]>(steps).map(([name, [weight]]) => [name, weight]),
  ) as Record<Name, number>
const SIMPLE = weightsOf(STEPS)
const PAYOUTS = weightsOf(PAYOUT_STEPS)
/** Beside all others: about half of the simultaneous steps are about payouts. */
const MANY_PAYOUTS = { proposeRun: 10, approveRun: 30, takeFiles: 10, sendRun: 10, markPayout: 20, adjust: 4 }
const MOST_PAYOUT_STEPS = 24
/** The steps that one way has and the others have not, and those of them that often happen beside others. */
const OF_WAY: Record<Way, { steps: Readonly<Record<string, number>>; many: Readonly<Record<string, number>> }> = {
  manual: { steps: PAYOUTS, many: MANY_PAYOUTS },
  'stripe-connect': { steps: weightsOf(CONNECT_STEPS), many: weightsOf(CONNECT_STEPS) },
  'razorpay-route': { steps: weightsOf(ROUTE_STEPS), many: { decideTransfer: 20, lookAtPasses: 6, settleLinked: 4, proposeRun: 4, approveRun: 8 } }, // oxfmt-ignore
}

export function historyOf(seed: number, { crashes, way = 'manual' }: { crashes: number; way?: Way }): Step[] {
  const random = new Random(seed)
  const weights = { ...SIMPLE, together: 10, loseDatabase: 1.5, crash: crashes }
  const length = random.whole(14, 28)
  const steps: Step[] = Array.from({ length }, (_, at) => ({
    kind: at < 2 ? 'order' : random.weighted(weights),
    seed: random.next(),
  }))
  return withPayouts(steps, new Random(seed ^ 0xba2c), { crashes, way })
}

/** Puts payout steps among the others: in two of three histories where the operator pays the seller, in all where a processor does. */
function withPayouts(steps: Step[], random: Random, { crashes, way }: { crashes: number; way: Way }): Step[] {
  if (random.chance(1 / 3) && way === 'manual') return steps
  const weights = { ...OF_WAY[way].steps, payoutsTogether: 8, payoutsCrash: crashes }
  if (way === 'razorpay-route') steps.unshift({ kind: 'changeTransfers', seed: random.next() })
  for (let left = random.whole(8, MOST_PAYOUT_STEPS); left > 0; left--)
    steps.splice(random.whole(2, steps.length), 0, { kind: random.weighted(weights) as Kind, seed: random.next() })
  return steps
}

/** Does one step, and returns a text about it. */
export async function play(run: Run, { kind, seed }: Step): Promise<string | undefined> {
  const random = new Random(seed)
  const among: Record<string, number> = kind.startsWith('payouts')
    ? { ...SIMPLE, ...OF_WAY[run.world.way].many }
    : SIMPLE
  const another = (): (() => Promise<string | undefined>) => {
    const step = { kind: random.weighted(among) as Kind, seed: random.next() }
    return () => play(run, step)
  }
  switch (kind) {
    case 'together':
    case 'payoutsTogether': {
      const parts = Array.from({ length: random.whole(2, 4) }, another)
      const done = await Promise.all(parts.map((part) => part()))
      return `at once: ${done.filter((one) => one !== undefined).join(' | ')}`
    }
    case 'loseDatabase':
      return loseDatabase(run, random, together([another(), another()]))
    case 'crash':
    case 'payoutsCrash':
      return crash(run, random, together([another(), another(), another()]))
    default:
      return ALL_STEPS[kind][1](run, random)
  }
}

const ALL_STEPS: Record<Exclude<Kind, Composite>, readonly [number, Play]> = {
  ...STEPS,
  ...CONNECT_STEPS,
  ...ROUTE_STEPS,
}

const together = (parts: (() => Promise<string | undefined>)[]) => async () =>
  (await Promise.all(parts.map((part) => part()))).filter((one) => one !== undefined).join(' | ')
