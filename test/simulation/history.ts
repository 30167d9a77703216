import * as banks from './banks.ts'
import * as buyers from './buyers.ts'
import { crash, loseDatabase } from './crash.ts'
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
export type Kind = Simple | 'together' | 'loseDatabase' | 'crash'

const SIMPLE = Object.fromEntries(Object.entries(STEPS).map(([name, [weight]]) => [name, weight])) as Record<
  Simple,
  number
>

export function historyOf(seed: number, { crashes }: { crashes: number }): Step[] {
  const random = new Random(seed)
  const weights: Record<Kind, number> = { ...SIMPLE, together: 10, loseDatabase: 1.5, crash: crashes }
  const length = random.whole(14, 28)
  return Array.from({ length }, (_, at) => ({
    kind: at < 2 ? 'order' : random.weighted(weights),
    seed: random.next(),
  }))
}

/** Does one step, and says what that was. */
export async function play(run: Run, { kind, seed }: Step): Promise<string | undefined> {
  const random = new Random(seed)
  const another = (): (() => Promise<string | undefined>) => {
    const step = { kind: random.weighted(SIMPLE), seed: random.next() }
    return () => play(run, step)
  }
  switch (kind) {
    case 'together': {
      const parts = Array.from({ length: random.whole(2, 4) }, another)
      const done = await Promise.all(parts.map((part) => part()))
      return `at once: ${done.filter((one) => one !== undefined).join(' | ')}`
    }
    case 'loseDatabase':
      return loseDatabase(run, random, together([another(), another()]))
    case 'crash':
      return crash(run, random, together([another(), another(), another()]))
    default:
      return STEPS[kind][1](run, random)
  }
}

const together = (parts: (() => Promise<string | undefined>)[]) => async () =>
  (await Promise.all(parts.map((part) => part()))).filter((one) => one !== undefined).join(' | ')
