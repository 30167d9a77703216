import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { mirrorSettlements } from '../../src/payouts/accounts/settlements.ts'
import type { Business } from '../../src/payouts/accounts/business-schema.ts'
import { OPERATOR, accountShop } from './account-shop.ts'
import { razorpayId } from '../stand-ins/razorpay-refusal.ts'
import { startRazorpayShop } from './razorpay-shop.ts'
import type { newBrowser } from './seller.ts'
import { type Ends, eventually, startedOnce } from './shop.ts'

export { OPERATOR }
export const PRICE = 49_900
/** The service's 2 % of it, and the part that goes on to the seller. */
export const FEE = 998
export const NET = PRICE - FEE
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
  const shared = accountShop(shop, 'razorpay')
  const own = {
    ...shared,
    bank,
    route,

    /** A seller who has just signed in, with one product in rupees. */
    seller: (email?: string, priceMinor = PRICE) => shared.newSeller(email, { currency: 'INR', priceMinor }),

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

    /** An order that the buyer has paid. */
    async paid(seller: { productId: string }) {
      const order = await shop.checkout({ productId: seller.productId })
      const payment = bank.pay(order.clientSecret!)
      await shop.until(order.orderId, ({ paid }) => paid)
      // the payment has more than one notification
      await bank.delivered()
      return { ...order, paymentId: String(payment.id), razorpayOrder: order.clientSecret! }
    },

    /** A seller with one paid order whose price has gone on. */
    async sold() {
      const seller = await own.selling()
      const order = await own.paid(seller)
      await own.books(seller.id, 0, NET)
      return { seller, order, transfer: route.of(order.razorpayOrder)[0]! }
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

    /** The seller's money in rupees can go to a bank at once. */
    payable: (sellerId: string) =>
      sql`
        insert into payout_details (seller_id, currency, kind, country, sealed, shown, payable_from)
        values (${sellerId}, 'INR', 'india_account', 'IN', 'x', 'x', now() - interval '1 day')`.execute(shop.db),

    async refund(seller: { browser: ReturnType<typeof newBrowser> }, orderId: string, amount?: number) {
      const { status, body } = await seller.browser.call('POST', `/api/orders/${orderId}/refunds`, { amount })
      assert.equal(status, 201, JSON.stringify(body))
      return String(body.id)
    },

    /** Waits until the books have these sums: the money owed to a seller, and the money at the seller's account. */
    books: (sellerId: string, owed: number, passed: number) =>
      eventually(
        async () => [await own.balanceOf(`seller:${sellerId}`), await own.balanceOf(`direct:${sellerId}`)],
        ([isOwed, isPassed]) => isOwed === owed && isPassed === passed,
      ),

    /** Does the same as the job that runs each ten minutes. */
    readSettlements: async () => mirrorSettlements(shop.db, await shared.openAll()),
    /** Razorpay pays the money at the linked account to the seller's bank, and the service has read of it. */
    async settled(account: string) {
      route.settle(account)
      await own.readSettlements()
    },

    /** The money at a linked account at Razorpay. */
    atRazorpay: (account: string): number =>
      [...route.transfers.values()]
        .filter((one) => one.recipient === account && /processed|reversed/.test(one.status))
        .reduce((sum, one) => sum + one.amount - one.amount_reversed, 0),
  }
  return own
}

/** One such shop for all the tests of a file. */
export const sharedRouteShop = (): (() => RouteShop) => startedOnce(startRouteShop)
