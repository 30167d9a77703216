import type { Random } from './random.ts'
import { newId } from '../../src/kit/ids.ts'
import { stripeBanks } from './bank-records.ts'
import type { DiscountCode, KnownOrder, Run } from './run.ts'

// The actions of buyers. Each returns a text about its effect, or nothing when there was nothing to do.

const STRIPE_METHODS: Record<string, string[]> = {
  EUR: ['sepa_debit', 'ideal', 'klarna'],
  USD: ['us_bank_account', 'cashapp', 'amazon_pay'],
  GBP: ['bacs_debit', 'pay_by_bank'],
  JPY: ['konbini', 'paypay'],
}
const CARDS = ['card', 'debit_card', 'apple_pay', 'google_pay', 'link']
const RAZORPAY_METHODS = ['card', 'upi', 'netbanking', 'wallet', 'emi']

/** Much longer than a few statements take. */
const START_MS = 100

export async function order(run: Run, random: Random): Promise<string> {
  const good = random.pick(run.world.goods)
  const keyed = random.chance(0.7)
  const checkout = { good, key: keyed ? run.world.newKey() : undefined, ageHours: 0 }
  run.checkouts.push(checkout)
  const times = keyed && random.chance(0.3) ? random.whole(2, 3) : 1
  const orders = () => Promise.all(Array.from({ length: times }, () => run.checkOut(checkout)))
  await (times === 1 ? orders() : withSlowProcessors(run, orders))
  return `orders for ${good.priceMinor} ${good.currency}, ${times} at once, ${keyed ? 'with' : 'without'} a key`
}

/** Each of simultaneous requests must start its payment before the processor has answered another one, also on a busy machine. */
async function withSlowProcessors<T>({ world: { stripe, razorpay } }: Run, work: () => Promise<T>): Promise<T> {
  const before = [stripe.knobs.delayMs, razorpay.delayMs] as const
  stripe.knobs.delayMs = razorpay.delayMs = START_MS
  try {
    return await work()
  } finally {
    ;[stripe.knobs.delayMs, razorpay.delayMs] = before
  }
}

/** With a code that is good for a few orders, in several tabs at times: all but those few are refused. */
export async function orderByCode(run: Run, random: Random): Promise<string> {
  // a price in fils has to be one in tens for a processor
  const good = random.pick(run.world.goods.filter(({ currency }) => currency !== 'KWD'))
  run.code ??= await newCode(run, random)
  const { code } = run.code
  const tabs = Array.from({ length: random.whole(1, 3) }, () => {
    const checkout = { good, key: run.world.newKey(), discountCode: code, ageHours: 0 }
    run.checkouts.push(checkout)
    return checkout
  })
  await Promise.all(tabs.map((checkout) => run.checkOut(checkout)))
  return `orders for ${good.priceMinor} ${good.currency} with a code, in ${tabs.length} tabs`
}

async function newCode({ world: { client, goods } }: Run, random: Random): Promise<DiscountCode> {
  const id = newId('dsc')
  const made = { id, code: `SIM-${id.slice(-20)}`, mostUses: random.whole(1, 4) }
  await client.query(
    `insert into discounts (id, seller_id, code, percent_off, most_uses)
     select $1, seller_id, $2, $3, $4 from products where id = $5`,
    [id, made.code, random.pick([20, 20, 20, 100]), made.mostUses, goods[0]!.productId],
  )
  return made
}

/** A reload, the back button, or another try after there was no answer. */
export async function orderAgain(run: Run, random: Random): Promise<string | undefined> {
  const checkout = random.pickAny(run.checkouts.filter(({ key }) => key !== undefined))
  if (!checkout) return undefined
  await run.checkOut(checkout)
  return `asks again for the order of ${checkout.good.priceMinor} ${checkout.good.currency}`
}

export async function pay(run: Run, random: Random): Promise<string | undefined> {
  const chosen = pickOrder(run, random)
  const id = chosen && random.pickAny([...chosen.payments])
  return id === undefined ? undefined : payHere(run, random, chosen!, id)
}

/** Two tabs: both were opened before either paid, and the second does not ask whether the first has. */
export async function payTwice(run: Run, random: Random): Promise<string | undefined> {
  const chosen = pickOrder(run, random)
  if (!chosen || chosen.payments.size === 0) return undefined
  const tabs = [random.pick([...chosen.payments]), random.pick([...chosen.payments])]
  const done = tabs.map((id) => payHere(run, random, chosen, id, true))
  return `in two tabs: ${done.join('; ')}`
}

function payHere(run: Run, random: Random, { good }: KnownOrder, id: string, evenIfPaid = false): string {
  const { razorpay } = run.world
  if (id.startsWith('order_')) {
    const method = random.pick(RAZORPAY_METHODS)
    const outcome = random.weighted({
      captured: 6,
      authorized: 2,
      failed: 2,
      created: 1,
      failed_then_captured: 1,
      failed_then_authorized: 1,
    })
    if (razorpay.orders.get(id)!.status === 'paid' && !evenIfPaid) return 'is told that this is paid'
    razorpay.pay(id, { method, outcome, evenIfPaid })
    return `pays ${good.currency} by ${method}: ${outcome}`
  }
  const wanted = random.pick([...CARDS, ...(STRIPE_METHODS[good.currency] ?? [])])
  // the form does not offer methods that the service has excluded
  const found = intentOf(run, id)
  const method = found.intent['excluded_payment_method_types'].includes(wanted) ? 'card' : wanted
  const outcome = random.weighted({ succeed: 6, decline: 2, processing: 3, requires_action: 1 })
  if (!found.intent['status'].startsWith('requires_')) return 'is told that this is paid, or closed'
  found.bank.confirm(id, { method, outcome })
  return `pays ${good.currency} by ${method}: ${outcome}`
}

function intentOf({ world: { stripe } }: Run, id: string) {
  for (const bank of stripeBanks(stripe)) {
    const intent = bank.paymentIntents.find((one) => one['id'] === id)
    if (intent) return { bank, intent }
  }
  throw new Error(`no payment ${id}`)
}

/** Looks how the order stands; `sync`: and has the processor asked. */
export async function ask(run: Run, random: Random): Promise<string | undefined> {
  const chosen = pickOrder(run, random)
  if (!chosen) return undefined
  const sync = random.chance(0.7)
  const times = random.chance(0.2) ? 3 : 1
  // the pause between two syncs is seconds, and here it is over
  if (sync && random.chance(0.8))
    await run.world.client.query(`update orders set sync_after = '-infinity' where id = $1`, [chosen.orderId])
  const right = random.chance(0.8)
  const email = right ? run.email : 'mallory@example.com'
  const query = new URLSearchParams({ email, ...(sync && { sync: '1' }) })
  const answers = await Promise.all(
    Array.from({ length: times }, () => run.call('GET', `/api/checkout/${chosen.orderId}/status?${query}`)),
  )
  for (const { status, body } of answers) if (status === 200) checkAnswer(run, body, right)
  return `asks ${times} times how it stands${sync ? ', with sync' : ''}${right ? '' : ', with a wrong address'}`
}

/** Links come only with states that deliver, and only to the buyer. */
export function checkAnswer(run: Run, body: any, right: boolean): void {
  const delivered = body.status === 'paid' || body.status === 'partially_refunded'
  // where all of the money is on its way back, the links have ended already
  const ending = run.refunds.some(({ orderId }) => orderId === body.orderId)
  const paid = body.paid === delivered || (ending && !body.paid)
  if (!paid || body.downloads.length > 0 !== (body.paid && right))
    run.problems.push(`links: ${JSON.stringify({ ...body, downloads: body.downloads.length, right })}`)
  if (!right && body.statementDescriptor !== undefined) run.problems.push('a wrong address is told of the order')
  if (body.canPay && body.status !== 'pending' && body.status !== 'processing')
    run.problems.push(`an order that is ${body.status} can be paid`)
}

export const pickOrder = (run: Run, random: Random): KnownOrder | undefined => random.pickAny(run.orders)
