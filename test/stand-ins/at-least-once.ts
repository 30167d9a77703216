import { createHash } from 'node:crypto'
import type { Wire } from './stripe-bank.ts'

/** A notification is tried this often when the shop does not take it. A shop that refuses one for ever must not keep a test waiting. */
const TRIES = 3

/** How one notification is sent, drawn from the seed. The numbers are below 2³². */
interface Draw {
  /** Its place among those that are sent together. */
  place: number
  /** Sent now, sent twice at the same moment, sent again after later ones, or sent only after later ones. */
  how: 'once' | 'twice' | 'again later' | 'later'
}
const HOW: Draw['how'][] = ['once', 'twice', 'again later', 'later']

interface Copy {
  event: Wire
  tries: number
}

/**
 * Delivers notifications as Stripe does (https://docs.stripe.com/webhooks#event-ordering): each at least once, some twice, in another order
 * than that in which they happened, and some after later ones. What is told in one turn of the event loop is sent together, shuffled; the
 * seed says whether one by one or all at once. Nothing waits on the clock: late ones come with the next that are sent, or with `rest`. Of a
 * payment at least one comes at once, so a test can await its effect. The draws depend on the seed, the type and how many of this type
 * there were, and on no id.
 */
export function atLeastOnce(seed: string, send: (event: Wire) => Promise<boolean>) {
  const counts = new Map<string, number>()
  const told: Wire[] = []
  const late: Copy[] = []
  let sending: Promise<void> = Promise.resolve()

  const numberOf = (what: string): number => {
    const count = (counts.get(what) ?? 0) + 1
    counts.set(what, count)
    return createHash('sha256').update(`${seed} ${what} ${count}`).digest().readUInt32BE()
  }
  const drawn = (event: Wire): Draw => ({
    place: numberOf(`place of ${event['type']}`),
    how: HOW[numberOf(`how ${event['type']}`) % HOW.length]!,
  })

  /** Sends a round in the order of the places, one after the other or all at once. */
  function sendRound(copies: (Copy & { place: number })[]): void {
    if (copies.length === 0) return
    const isAtOnce = numberOf('at once') % 2 === 0
    const inOrder = copies.toSorted((a, b) => a.place - b.place)
    const one = async ({ event, tries }: Copy) => {
      if (!(await send(event)) && tries + 1 < TRIES) late.push({ event, tries: tries + 1 })
    }
    sending = sending.then(async () => {
      if (isAtOnce) return void (await Promise.all(inOrder.map(one)))
      // two copies of one notification have one place: they are sent at the same moment
      for (const place of new Set(inOrder.map((copy) => copy.place)))
        await Promise.all(inOrder.filter((copy) => copy.place === place).map(one))
    })
  }

  /** All that is late, with places of its own. */
  const takeLate = () => late.splice(0).map((copy) => ({ ...copy, place: numberOf(`place of ${copy.event['type']}`) }))

  function begin(): void {
    const round = takeLate()
    const fresh = told.splice(0).map((event) => ({ event, ...drawn(event) }))
    const comesNow = new Set(fresh.filter(({ event, how }) => how !== 'later' && hasEffect(event)).map(({ event }) => paymentOf(event))) // oxfmt-ignore
    for (const { event, how, place } of fresh) {
      const copy = { event, tries: 0 }
      const mayWait = how === 'later' && comesNow.has(paymentOf(event))
      if (!mayWait) round.push({ ...copy, place })
      if (how === 'twice') round.push({ ...copy, place })
      if (mayWait || how === 'again later') late.push(copy)
      if (hasEffect(event)) comesNow.add(paymentOf(event))
    }
    sendRound(round)
  }

  return {
    tell(event: Wire): void {
      // after the action of the buyer or the bank that tells of several things
      if (told.push(event) === 1) queueMicrotask(begin)
    },
    /** Sends all that is late, until the shop has taken it, and waits for it. */
    async rest(): Promise<void> {
      do {
        await Promise.resolve()
        sendRound(takeLate())
        await sending
      } while (late.length > 0 || told.length > 0)
    },
    /** Loses what is late. */
    lose: () => void late.splice(0),
  }
}

/** The payment that a notification is about. Undefined: it is about something else, such as an account or a payout. */
export function paymentOf({ data: { object } }: Wire): string | undefined {
  return object['object'] === 'payment_intent' ? object['id'] : object['payment_intent']
}

/** The shop asks about a payment after every notification but this. */
const hasEffect = ({ type }: Wire): boolean => type !== 'payment_intent.created'
