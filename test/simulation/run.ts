import type { Answer } from '../support/shop.ts'
import { type Order, readOrders } from './books.ts'
import { type BankPayment, razorpayPayments, stripePayments } from './bank-records.ts'
import type { Good, World } from './world.ts'

/** An order as its buyer knows it. */
export interface KnownOrder {
  orderId: string
  good: Good
  /** Payments whose client secret the buyer has: those can be paid. */
  payments: Set<string>
}

export interface DiscountCode {
  id: string
  code: string
  mostUses: number
}

/** A checkout that its buyer can ask for again: with a key it is the same one. */
export interface Checkout {
  good: Good
  discountCode?: string
  key: string | undefined
  orderId?: string
  ageHours: number
}

/** A key is certainly stored for this long; after a day it is removed at some moment. */
const KEY_HOURS = 23

/** A seller's requests, which can be repeated. */
export interface RefundRequest {
  orderId: string
  key: string
  amount: number | undefined
  refundId?: string
}

let runs = 0

/** One history as it runs: the data of its one buyer, and the faults found. */
export class Run {
  readonly world: World
  readonly email: string
  readonly orders: KnownOrder[] = []
  readonly checkouts: Checkout[] = []
  readonly refunds: RefundRequest[] = []
  /** The runs of payouts that were proposed in this history. */
  readonly payoutRuns: string[] = []
  /** The payouts whose approval was checked. */
  readonly payouts = new Set<string>()
  /** The bank files, by their addresses. */
  readonly bankFiles = new Map<string, string>()
  /** By how much the money did not add up before this history, by currency. */
  moneyOff = new Map<string, string>()
  /** The same of the money at sellers' own accounts. */
  accountsOff = new Map<string, number>()
  /** The accounts that gave us no access for a while, as names of processors. */
  readonly lostAccounts = new Set<string>()
  /** The transfers that went on after the order was paid, and so perhaps after a refund. */
  readonly latePasses = new Set<string>()
  /** The transfers that failed and are not tried again. */
  readonly finalTransfers = new Set<string>()
  /** The fault, in words. */
  readonly problems: string[] = []
  /** The service died or its database is down, so a missing response is no fault. */
  silenceIsExpected = false
  /** The code that was made for this buyer. */
  code: DiscountCode | undefined
  /** Which of the processors' notifications are of this run. */
  readonly since: { events: number; notifications: number; deliveries: number; rzpDeliveries: number }

  constructor(world: World) {
    this.world = world
    this.email = `run-${process.pid}-${++runs}@example.com`
    const { stripe, razorpay } = world
    this.since = {
      events: stripe.events.length,
      notifications: razorpay.notifications.length,
      deliveries: stripe.deliveries.length,
      rzpDeliveries: razorpay.deliveries.length,
    }
  }

  read(): Promise<Order[]> {
    return readOrders(this.world.client, this.email)
  }

  /** The banks' data of these orders. */
  truth(orderIds: Iterable<string>): BankPayment[] {
    const ids = new Set(orderIds)
    return [...stripePayments(this.world.stripe, ids), ...razorpayPayments(this.world.razorpay, ids)]
  }

  /** For the orders that the buyer knows. */
  payments(): BankPayment[] {
    return this.truth(this.orders.map(({ orderId }) => orderId))
  }

  /** A request of the buyer's. */
  async call(method: string, address: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    const answer = await this.world.call(method, address, body, headers)
    this.note(`${method} ${address}`, answer)
    return answer
  }

  /** A failure that is not one of those that were foreseen is a problem. */
  note(what: string, { status, body }: Answer, expected?: number[]): void {
    if (status === 503 || (status === 0 && this.silenceIsExpected)) return
    if (status === 0 || status >= 500 || (expected && !expected.includes(status)))
      this.problems.push(`${what}: ${status || 'no answer'} ${JSON.stringify(body)}`)
  }

  /** Asks for an order, for the first time or again. */
  async checkOut(checkout: Checkout): Promise<void> {
    const { good, key, discountCode } = checkout
    // between two orders the seller says something else about tax; a repeat gets the order with the tax that it had
    if (checkout.orderId === undefined) await this.world.changeTax(good.priceMinor + this.checkouts.length)
    const { status, body } = await this.call(
      'POST',
      '/api/checkout',
      { productId: good.productId, email: this.email, country: countryOf(good), ...(discountCode && { discountCode }) },
      key === undefined ? {} : { 'idempotency-key': key },
    )
    if (status !== 201) return
    const isKnown = checkout.orderId !== undefined && checkout.ageHours < KEY_HOURS
    if (isKnown && body.orderId !== checkout.orderId)
      this.problems.push(`the key ${key} made two orders: ${checkout.orderId} and ${body.orderId}`)
    checkout.orderId = body.orderId
    const off = body.discountAmount ?? 0
    if (!isRightAmount(body, good.priceMinor - off) || (off > 0 && !discountCode) || body.currency !== good.currency)
      this.problems.push(`order ${body.orderId} is of ${body.amount} ${body.currency}`)
    let known = this.orders.find(({ orderId }) => orderId === body.orderId)
    if (!known) this.orders.push((known = { orderId: body.orderId, good, payments: new Set() }))
    if (body.clientSecret) known.payments.add(String(body.clientSecret).split('_secret_')[0]!)
  }

  /** The notifications of this run that were sent and answered in no way that was foreseen. */
  strangeDeliveries(): string[] {
    const { stripe, razorpay } = this.world
    return [
      ...stripe.deliveries.slice(this.since.deliveries).map(({ type, status }) => ({ type, status: status ?? 0 })),
      ...razorpay.deliveries.slice(this.since.rzpDeliveries).map(({ event, status }) => ({ type: event, status })),
    ]
      .filter(({ status }) => ![0, 200, 503].includes(status))
      .map(({ type, status }) => `a notification (${type}) was answered with ${status}`)
  }
}

/**
 * A buyer of one good is always in the same country: with another one, a repeat would be another request. A price in fils has to be one
 * in tens for a processor, and with tax on top it would not be.
 */
const countryOf = ({ currency, priceMinor }: Good): string =>
  currency === 'KWD' ? 'US' : ['DE', 'FR', 'US'][priceMinor % 3]!

/** The price, with the tax in it or on top. The rates of the world have no fraction, so this needs no rounding but the last. */
function isRightAmount(
  { amount, tax }: { amount: number; tax?: { amount: number; rate: number } },
  price: number,
): boolean {
  if (!tax) return amount === price
  const [within, upon] = [(price * tax.rate) / (100 + tax.rate), (price * tax.rate) / 100]
  const isNear = (exact: number) => Math.abs(tax.amount - exact) <= 0.5
  return (amount === price && isNear(within)) || (amount === price + tax.amount && isNear(upon))
}
