import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { sql } from 'kysely'
import type { Capture } from '../../src/processors/processor.ts'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { bareEnvironment } from '../support/service.ts'
import { type Answer, SECRET, type ShopOptions, type TestShop, eventually } from '../support/shop.ts'
import { OPERATOR } from '../operator/support.ts'
import { query } from '../stand-ins/processor.ts'

// Sellers with money that is due, and the operator who pays it out.

/** Money is due at once, so that no test waits for the end of a holding period. */
export const MANUAL: ShopOptions = { env: { OPERATORS: OPERATOR, PAYOUT_HOLD_DAYS: '0', PAYOUT_MINIMUM: '5 USD' } }

export const IBAN = 'DE89370400440532013000'
const DESTINATIONS: Record<string, object> = {
  EUR: { kind: 'iban', name: 'Ann Müller', iban: IBAN, bic: 'COBADEFFXXX' },
  INR: { kind: 'upi', name: 'Asha Rao', upiId: 'asha.rao@okbank' },
}
const ELSEWHERE = {
  kind: 'other',
  name: 'Zoe Smith',
  country: 'US',
  lines: ['First Bank of Springfield', 'Account 12345678'],
}

export interface PaidSeller {
  browser: Browser
  sellerId: string
  /** A sale of so much, and its order. */
  sell(amount: number, currency?: string): Promise<string>
  /** Says where the money of a currency goes. It can go there at once, unless `isHeld`. */
  details(currency?: string, isHeld?: boolean): Promise<void>
  balance(currency?: string): Promise<{ balance: number; available: number; pending: number; onTheWay: number }>
}

export async function newPaidSeller(shop: TestShop): Promise<PaidSeller> {
  const browser = newBrowser(shop)
  const { body } = await browser.signInByCode(newMailbox())
  const sellerId = body.seller.id as string
  return {
    browser,
    sellerId,
    async sell(amount, currency = 'USD') {
      const product = await browser.call('POST', '/api/products', { name: 'A song', amount, currency })
      assert.equal(product.status, 201, JSON.stringify(product.body))
      await shop.file(product.body.id)
      await browser.call('PATCH', `/api/products/${product.body.id}`, { status: 'active' })
      return (await shop.paid({ productId: product.body.id })).orderId
    },
    async details(currency = 'USD', isHeld = false) {
      const answer = await browser.call('PUT', `/api/payout-details/${currency}`, DESTINATIONS[currency] ?? ELSEWHERE)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      if (!isHeld) await endHold(shop, sellerId)
    },
    async balance(currency = 'USD') {
      const { body: list } = await browser.call('GET', '/api/balance')
      const found = list.items.find((one: { currency: string }) => one.currency === currency)
      const { balance, available, pending, onTheWay } = found ?? { balance: 0, available: 0, pending: 0, onTheWay: 0 }
      return { balance, available, pending, onTheWay }
    },
  }
}

/** The 72 hours after a change of details are over. */
export const endHold = (shop: TestShop, sellerId: string) =>
  sql`update payout_details set payable_from = now() - interval '1 second' where seller_id = ${sellerId}`.execute(
    shop.db,
  )

/** A seller with 18.62 due and a destination. */
export async function dueSeller(shop: TestShop, amount = 1900): Promise<PaidSeller & { orderId: string }> {
  const seller = await newPaidSeller(shop)
  const orderId = await seller.sell(amount)
  await seller.details()
  return { ...seller, orderId }
}

export function runs(operator: Browser) {
  const steps = {
    async propose() {
      const answer = await operator.call('POST', '/api/operator/payout-runs')
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.body
    },
    approve: (runId: string): Promise<Answer> => operator.call('POST', `/api/operator/payout-runs/${runId}/approve`),
    cancel: (runId: string): Promise<Answer> => operator.call('POST', `/api/operator/payout-runs/${runId}/cancel`),
    get: async (runId: string) => (await operator.call('GET', `/api/operator/payout-runs/${runId}`)).body,
    file: (runId: string, currency = 'USD', query = ''): Promise<Answer> =>
      operator.call('POST', `/api/operator/payout-runs/${runId}/files/${currency}${query}`),
    leaveOut: (runId: string, sellerId: string, isOut = true, currency = 'USD'): Promise<Answer> =>
      operator.call(isOut ? 'PUT' : 'DELETE', `/api/operator/payout-runs/${runId}/left-out/${sellerId}/${currency}`),
    payAgain: (payoutId: string): Promise<Answer> =>
      operator.call('POST', `/api/operator/payouts/${payoutId}/pay-again`),
    sent: (runId: string, body: object = {}): Promise<Answer> =>
      operator.call('POST', `/api/operator/payout-runs/${runId}/sent`, body),
    mark: (
      payoutId: string,
      mark: 'paid' | 'failed' | 'reversed',
      reason = 'The account is closed.',
    ): Promise<Answer> =>
      operator.call('POST', `/api/operator/payouts/${payoutId}/${mark}`, mark === 'paid' ? undefined : { reason }),
    /** A payout to this seller alone, approved. */
    async pay({ sellerId }: { sellerId: string }) {
      const run = await steps.propose()
      const { status, body } = await steps.approve(run.runId)
      assert.equal(status, 200, JSON.stringify(body))
      const line = lineOf(body, sellerId)
      assert(line?.payout, JSON.stringify(line))
      return {
        runId: run.runId as string,
        payoutId: line.payout.payoutId as string,
        amount: line.payout.amount as number,
      }
    },
    /** The same, in a bank file and sent. */
    async send(seller: { sellerId: string }) {
      const made = await steps.pay(seller)
      for (const { currency, format } of (await steps.get(made.runId)).files)
        assert.equal((await steps.file(made.runId, currency, `?format=${format}`)).status, 200)
      assert.equal((await steps.sent(made.runId)).status, 200)
      return made
    },
  }
  return steps
}

export const lineOf = (run: any, sellerId: string, currency = 'USD') =>
  run.lines.find((line: any) => line.sellerId === sellerId && line.currency === currency)

/** The entries of payouts in the books of a seller. */
export const payoutEntries = (shop: TestShop, sellerId: string) =>
  query<{ kind: string; amountMinor: number }>(
    shop.db,
    sql`select kind, amount_minor as "amountMinor" from transfers
      where order_id is null and ${`seller:${sellerId}`} in (debit_account, credit_account) order by created_at, kind`,
  )

/** The seller refunds an order in full, and the service has booked it. */
export async function refundedInFull(shop: TestShop, seller: PaidSeller, orderId: string): Promise<void> {
  assert.equal((await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, {})).status, 201)
  await eventually(
    () => query(shop.db, sql`select 1 from transfers where order_id = ${orderId} and kind = 'refund'`),
    (rows) => rows.length > 0,
  )
}

/** The buyer's bank asks for the money of an order back, and then decides so. */
export async function disputed(
  shop: TestShop,
  orderId: string,
  state: 'open' | 'won' | 'lost' = 'open',
): Promise<void> {
  const { captures, ...payment } = await shop.sandboxPayment(orderId)
  const [{ id: captureId, amountMinor }] = captures as [Capture]
  const disputes = [{ id: `dp_${orderId}`, captureId, amountMinor, state }]
  assert.equal((await shop.notify({ payment: { ...payment, captures, disputes } })).status, 200)
}

const COMMAND = path.join(import.meta.dirname, '../../scripts/payouts.ts')

/** `npm run payouts`, as a process of its own. `ended` has no status when it was killed. */
export function payoutsCommand(shop: TestShop, args: readonly string[], more: Record<string, string> = {}) {
  const env = { ...MANUAL.env, DATABASE_URL: shop.databaseUrl, DATA_DIR: shop.config.dataDir, SECRET, ...more }
  const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...bareEnvironment(), ...env } })
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => (out += text))
  child.stderr.on('data', (text) => (err += text))
  const ended = new Promise<{ status: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (status) => resolve({ status, out, err })),
  )
  return { child, ended }
}
