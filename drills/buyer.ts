import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Created, OrderStatus } from '../src/checkout/schema.ts'
import { type Answer, type Browser, openBrowser } from './browser.ts'
import { type Shop, sha256 } from './shop.ts'

// As the hosted page polls (web/pay/follow.ts).
const POLL_MS = { least: 700, usual: 2_000 }
const SYNC_AFTER_MS = 4_000
/** A buyer without files after this time goes away. */
const GIVE_UP_MS = 300_000

const PAGE = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br' }

/** How many of all buyers have reached each step. */
export interface Tally {
  arrived: number
  paid: number
  withFiles: number
  failed: number
  /** Requests that were repeated because the service was away, and those of them that were answered: with 408, 502, 503 or 504. */
  repeated: number
  answeredAway: number
  /** Those of them that did not say when to come again. */
  withoutRetryAfter: number
  declined: number
  clickedTwice: number
  notificationsLost: number
}

export interface Bought {
  /** From "pay" to the links, in ms. */
  linksMs: number
  /** From the arrival to the file, whose bytes are right, in ms. */
  fileMs: number
}

/** A buyer buys: page, order, payment, links, one of the files. Throws when the buyer ends without the file. */
export async function buy(shop: Shop, n: number, tally: Tally): Promise<Bought> {
  const arrivedAt = performance.now()
  tally.arrived++
  const giveUpAt = arrivedAt + GIVE_UP_MS
  const onRepeat = (answer: Answer | undefined) => {
    tally.repeated++
    if (answer) tally.answeredAway++
    if (answer && !answer.retryAfter) tally.withoutRetryAfter++
  }
  const browser = openBrowser(shop.port, { giveUpAt, onRepeat })
  try {
    const buyer = { browser, n, email: `buyer${n}@drill.example`, forwarded: { 'x-forwarded-for': addressOf(n) } }
    await browser.ask('GET', `/pay/?product=${shop.productId}`, {
      headers: { ...PAGE, ...buyer.forwarded },
      by: 'browser',
      expected: [200],
    })
    const order = await makeOrder(shop, buyer, tally)
    const payAt = await pay(order.clientSecret!, buyer, tally)
    tally.paid++
    const downloads = await follow(order, buyer, { payAt, giveUpAt })
    const linksMs = performance.now() - payAt
    if (downloads.length !== shop.hashes.size)
      throw new Error(`${downloads.length} files of ${shop.hashes.size} are there`)
    for (const { name, url } of downloads) {
      const file = await browser.ask('GET', new URL(url).pathname, {
        headers: buyer.forwarded,
        by: 'browser',
        expected: [200],
      })
      if (sha256(file.bytes) !== shop.hashes.get(name)) throw new Error(`${name} has other bytes than the seller's`)
    }
    tally.withFiles++
    return { linksMs, fileMs: performance.now() - arrivedAt }
  } finally {
    await browser.close()
  }
}

interface Buyer {
  browser: Browser
  n: number
  email: string
  /** The headers that a proxy adds for the buyer, so that the limits count each buyer as a network. */
  forwarded: Record<string, string>
}

/** Of each hundred buyers five are declined, two click twice, and the notification of one is lost. */
const kindOf = (n: number) => {
  // 37 and 100 have no common divisor, so that the kinds are mixed and each hundred has every remainder once
  const at = (n * 37) % 100
  return at < 5 ? 'declined' : at < 7 ? 'twice' : at < 8 ? 'lost' : 'plain'
}

/** Each buyer is a network of its own, behind the proxy. */
const addressOf = (n: number): string => [10, n >> 16, n >> 8, n].map((part) => part & 255).join('.')

const twiceOrOnce = (n: number, click: () => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(kindOf(n) === 'twice' ? [click(), click()] : [click()])

async function makeOrder({ productId }: Shop, { browser, n, email, forwarded }: Buyer, tally: Tally): Promise<Created> {
  const headers = { 'idempotency-key': randomUUID(), ...forwarded }
  const answers = await twiceOrOnce(n, () =>
    browser.ask('POST', '/api/checkout', { body: { productId, email }, headers, expected: [201] }),
  )
  const orders = answers.map((answer) => read<Created>(answer))
  if (orders.some(({ orderId }) => orderId !== orders[0]!.orderId)) throw new Error('two clicks have made two orders')
  if (orders.length > 1) tally.clickedTwice++
  return orders[0]!
}

/** Pays, and returns the time of the click. A repeat after a lost answer can find the payment made: 409. */
async function pay(clientSecret: string, { browser, n }: Buyer, tally: Tally): Promise<number> {
  const kind = kindOf(n)
  // The sandbox's bank answers only on this machine, and not through a proxy.
  const confirm = (scenario: string, expected: number[]) =>
    browser.ask('POST', '/api/sandbox/confirm', { body: { clientSecret, rail: 'card', scenario }, expected })
  if (kind === 'declined') {
    await confirm('decline', [402])
    tally.declined++
  }
  const payAt = performance.now()
  const answers = await twiceOrOnce(n, () => confirm(kind === 'lost' ? 'lost_webhook' : 'success', [200, 409]))
  for (const answer of answers)
    if (answer.status === 409 && read<{ code: string }>(answer).code !== 'payment_already_captured')
      throw new Error(`the payment was refused: ${answer.bytes.toString()}`)
  if (kind === 'lost') tally.notificationsLost++
  return payAt
}

/** Polls the status as the hosted page does, until it has the links. */
async function follow(
  { orderId, statusToken }: Created,
  { browser, email, forwarded }: Buyer,
  { payAt, giveUpAt }: { payAt: number; giveUpAt: number },
): Promise<OrderStatus['downloads']> {
  for (let isFirst = true; ; isFirst = false) {
    const askedAt = performance.now()
    const more = !isFirst && askedAt - payAt >= SYNC_AFTER_MS ? 'sync' : 'wait'
    const query = new URLSearchParams({ email, token: statusToken, [more]: '1' })
    const path = `/api/checkout/${orderId}/status?${query}`
    const order = read<OrderStatus>(await browser.ask('GET', path, { headers: forwarded, expected: [200] }))
    if (order.downloads.length > 0) return order.downloads
    if (performance.now() > giveUpAt) throw new Error(`${orderId} is ${order.status}, and the buyer gave up`)
    const waitedMs = more === 'wait' ? performance.now() - askedAt : 0
    await sleep(Math.max((order.nextPollMs ?? POLL_MS.usual) - waitedMs, POLL_MS.least))
  }
}

const read = <Body>({ bytes }: Answer): Body => JSON.parse(bytes.toString()) as Body
