import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { newLog } from '../../src/kit/log.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { readDueAccounts } from '../../src/payouts/accounts/due.ts'
import type { Business } from '../../src/payouts/accounts/business-schema.ts'
import { openProcessors } from '../../src/processors/open.ts'
import { razorpayId } from '../stand-ins/razorpay-refusal.ts'
import { startRazorpayShop } from './razorpay-shop.ts'
import { newBrowser } from './seller.ts'
import { type Ends, eventually } from './shop.ts'

export const OPERATOR = 'olga@operator.test'
export const PRICE = 49_900
export const BUSINESS: Business = {
  legalName: 'Asha Rao',
  businessType: 'individual',
  sells: 'texts',
  contactName: 'Asha Rao',
  phone: '9000090000',
  street1: '507, Koramangala 1st block',
  street2: 'MG Road',
  city: 'Bengaluru',
  state: 'KARNATAKA',
  postalCode: '560034',
  pan: 'ABCPE1234F',
  accountNumber: '1234567890',
  ifsc: 'HDFC0000317',
  beneficiaryName: 'Asha Rao',
  acceptsTerms: true,
}

export type RouteShop = Awaited<ReturnType<typeof startRouteShop>>

/** A shop where Razorpay passes sellers' money on to linked accounts, and a server that speaks for Razorpay. */
export async function startRouteShop(t: Ends, { env = {} }: { env?: Record<string, string> } = {}) {
  const { shop, bank } = await startRazorpayShop(t, { env: { PAYOUTS: 'razorpay-route', OPERATORS: OPERATOR, ...env } })
  const { route } = bank
  const openAll = () =>
    openProcessors({ ...shop.config, sandbox: () => assert.fail('there is no sandbox') }, newLog('silent'))

  const own = {
    shop,
    bank,
    route,

    /** A seller who has just signed in, with one product in rupees. */
    async seller(email?: string, priceMinor = PRICE) {
      const browser = newBrowser(shop)
      const answer = await browser.signInByCode(email)
      const seller = answer.body.seller as { id: string; email: string }
      return { ...seller, browser, productId: await shop.product({ sellerId: seller.id, currency: 'INR', priceMinor }) }
    },

    /** A seller whose linked account is activated. */
    async selling(priceMinor = PRICE) {
      const seller = await own.seller(undefined, priceMinor)
      const told = await seller.browser.call('PUT', '/api/payouts/account', BUSINESS)
      assert.equal(told.status, 200, JSON.stringify(told.body))
      const account = [...route.accounts.values()].find((one) => one.email === seller.email)!.id as string
      route.stand(account, 'activated')
      await own.awaits(seller.id, false)
      return { ...seller, account }
    },

    /** Waits until a seller may sell, or may not. */
    awaits: (sellerId: string, wanted: boolean) =>
      eventually(
        async () => {
          const { rows } = await sql<{ awaits: boolean }>`
            select awaits_account as awaits from sellers where id = ${sellerId}`.execute(shop.db)
          return rows[0]!.awaits
        },
        (awaits) => awaits === wanted,
      ),

    /** An order that the buyer has paid. */
    async paid(seller: { productId: string }) {
      const order = await shop.checkout({ productId: seller.productId })
      const payment = bank.pay(order.clientSecret!)
      await shop.until(order.orderId, ({ paid }) => paid)
      return { ...order, paymentId: String(payment.id), razorpayOrder: order.clientSecret! }
    },

    /** The order is paid a second time, by an attempt that had ended. Returns Razorpay's Order of it and the payment. */
    async paidAgain(
      { account }: { account: string },
      { orderId, razorpayOrder }: { orderId: string; razorpayOrder: string },
    ) {
      const first = bank.orders.get(razorpayOrder)!
      const again = razorpayId('order_')
      const unpaid = { status: 'created', amount_paid: 0, amount_due: first.amount }
      bank.orders.set(again, { ...first, id: again, receipt: newId('pay'), ...unpaid })
      route.make(again, [{ account, amount: route.of(razorpayOrder)[0]!.amount, currency: 'INR' }])
      await sql`
        insert into payments (id, order_id, processor, processor_payment_id, state)
        values (${newId('pay')}, ${orderId}, 'razorpay', ${again}, 'canceled')`.execute(shop.db)
      return { razorpayOrder: again, paymentId: String(bank.pay(again).id) }
    },

    async refund(seller: { browser: ReturnType<typeof newBrowser> }, orderId: string, amount?: number) {
      const { status, body } = await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, { amount })
      assert.equal(status, 201, JSON.stringify(body))
      return String(body.id)
    },

    async balanceOf(account: string): Promise<number> {
      const { rows } = await sql<{ minor: number }>`
        select coalesce(sum(case when credit_account = ${account} then amount_minor else -amount_minor end), 0)::bigint as minor
        from transfers where ${account} in (credit_account, debit_account)`.execute(shop.db)
      return rows[0]!.minor
    },

    /** Waits until what is owed to a seller, and what is at the seller's account by the books, are so. */
    books: (sellerId: string, owed: number, passed: number) =>
      eventually(
        async () => [await own.balanceOf(`seller:${sellerId}`), await own.balanceOf(`direct:${sellerId}`)],
        ([isOwed, isPassed]) => isOwed === owed && isPassed === passed,
      ),

    refundedMinor: (orderId: string, wanted: number) =>
      eventually(
        async () => {
          const { rows } = await sql<{ minor: number }>`
            select refunded_minor as minor from orders where id = ${orderId}`.execute(shop.db)
          return rows[0]!.minor
        },
        (minor) => minor === wanted,
      ),

    /** What is at a linked account at Razorpay. */
    atRazorpay: (account: string): number =>
      [...route.transfers.values()]
        .filter((one) => one.recipient === account && /processed|reversed/.test(one.status))
        .reduce((sum, one) => sum + one.amount - one.amount_reversed, 0),

    /** Differences between the books, the orders and what Razorpay lists. */
    async differences() {
      const day = 86_400_000
      const { differences, notAsked } = await reconcileBooks({
        database: { connectionString: shop.databaseUrl },
        processors: await openAll(),
        from: new Date(Date.now() - day),
        to: new Date(Date.now() + day),
        graceMs: 0,
      })
      return [...differences, ...notAsked]
    },

    /** Does what the job does each minute, for accounts that are due now. */
    async readDue() {
      await sql`update connected_accounts set due_at = now()`.execute(shop.db)
      await readDueAccounts({
        db: shop.db,
        jobs: shop.jobs,
        processors: await openAll(),
        payer: 'razorpay',
        log: newLog('silent'),
        appUrl: 'https://shop.test',
      })
    },
    openAll,
  }
  return own
}
