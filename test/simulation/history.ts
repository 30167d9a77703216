import * as banks from './banks.ts'
import * as buyers from './buyers.ts'
import { crash, loseDatabase } from './crash.ts'
import * as payouts from './payouts.ts'
import { Random } from './random.ts'
import type { Run } from './run.ts'
import * as sellers from './sellers.ts'
import * as weather from './environment.ts'

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
  reconcile: [4, weather.reconcile],
  passTime: [8, weather.passTime],
} as const satisfies Record<string, readonly [number, Play]>
type Simple = keyof typeof STEPS

/** What the operator does about payouts. These have numbers of their own, so that all else in a history is as it was before them. */
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
export type Kind = Simple | PayoutStep | 'together' | 'loseDatabase' | 'crash' | 'payoutsTogether' | 'payoutsCrash'

const weightsOf = <Name extends string>(steps: Record<Name, readonly [number, Play]>) =>
  Object.fromEntries(
    Object.entries<readonly [number, Play]>(steps).map(([name, [weight]]) => [name, weight]),
  ) as Record<Name, number>
const SIMPLE = weightsOf(STEPS)
const PAYOUTS = weightsOf(PAYOUT_STEPS)
/** Beside all others: about half of what happens at once is about payouts. */
const MANY_PAYOUTS = { proposeRun: 10, approveRun: 30, takeFiles: 10, sendRun: 10, markPayout: 20, adjust: 4 }
const MOST_PAYOUT_STEPS = 24

export function historyOf(seed: number, { crashes }: { crashes: number }): Step[] {
  const random = new Random(seed)
  const weights = { ...SIMPLE, together: 10, loseDatabase: 1.5, crash: crashes }
  const length = random.whole(14, 28)
  const steps: Step[] = Array.from({ length }, (_, at) => ({
    kind: at < 2 ? 'order' : random.weighted(weights),
    seed: random.next(),
  }))
  return withPayouts(steps, new Random(seed ^ 0xba2c), crashes)
}

/** In two of three histories the operator pays the seller, in steps that lie among the others. */
function withPayouts(steps: Step[], random: Random, crashes: number): Step[] {
  if (random.chance(1 / 3)) return steps
  const weights = { ...PAYOUTS, payoutsTogether: 8, payoutsCrash: crashes }
  for (let left = random.whole(8, MOST_PAYOUT_STEPS); left > 0; left--)
    steps.splice(random.whole(2, steps.length), 0, { kind: random.weighted(weights), seed: random.next() })
  return steps
}

/** Does one step, and says what that was. */
export async function play(run: Run, { kind, seed }: Step): Promise<string | undefined> {
  const random = new Random(seed)
  const among: Record<string, number> = kind.startsWith('payouts') ? { ...SIMPLE, ...MANY_PAYOUTS } : SIMPLE
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
      return { ...STEPS, ...PAYOUT_STEPS }[kind][1](run, random)
  }
}

const together = (parts: (() => Promise<string | undefined>)[]) => async () =>
  (await Promise.all(parts.map((part) => part()))).filter((one) => one !== undefined).join(' | ')
