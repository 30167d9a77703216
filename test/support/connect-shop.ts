import assert from 'node:assert/strict'
import type { Created } from '../../src/checkout/schema.ts'
import type { Log } from '../../src/kit/log.ts'
import type { Outcome } from '../stand-ins/stripe-bank.ts'
import { OPERATOR, accountShop } from './account-shop.ts'
import { type Ends, eventually, startedOnce } from './shop.ts'
import { intentOf, startStripeShop } from './stripe-shop.ts'

export { OPERATOR }
export type ConnectShop = Awaited<ReturnType<typeof startConnectShop>>

/** A shop where sellers have accounts of their own at Stripe, and a server that speaks for Stripe. */
export async function startConnectShop(t: Ends, { log }: { log?: Log } = {}) {
  const env = { PAYOUTS: 'stripe-connect', OPERATORS: OPERATOR }
  const { shop, server } = await startStripeShop(t, { env, ...(log && { log }) })
  const { connect } = server
  const shared = accountShop(shop, 'stripe')
  const own = {
    ...shared,
    server,
    connect,

    seller: (email?: string) => shared.newSeller(email),

    /** A seller whose account takes payments. */
    async selling() {
      const seller = await own.seller()
      const opened = await seller.browser.call('POST', '/api/payouts/account')
      assert.equal(opened.status, 200, JSON.stringify(opened.body))
      const account = String(connect.links.at(-1)!['account'])
      connect.stand(account, 'active')
      await own.awaits(seller.id, false)
      return { ...seller, account, name: `stripe@${account}`, bank: connect.bankOf(account) }
    },

    /** An order at a seller's account, for which the buyer has paid. */
    async paid(seller: { productId: string; bank: { confirm: (id: string, how: { outcome: Outcome }) => unknown } }) {
      const order = await shop.checkout({ productId: seller.productId })
      seller.bank.confirm(intentOf(order), { outcome: 'succeed' })
      await shop.until(order.orderId, ({ paid }) => paid)
      return order
    },

    /** The part of its fee that the service returned, at Stripe, once it is `wanted`. */
    feeBack: (order: Pick<Created, 'clientSecret'>, wanted: number) =>
      eventually(
        async () => {
          const fee = connect.fees.find((one) => one['charge'] === own.chargeOf(order))
          return Number(fee?.['amount_refunded'] ?? 0)
        },
        (back) => back === wanted,
      ),

    chargeOf(order: Pick<Created, 'clientSecret'>): string {
      const id = intentOf(order)
      const charges = connect.banks().flatMap((bank) => bank.charges)
      return charges.find((one) => one['payment_intent'] === id)?.['id']
    },
  }
  return own
}

/** One such shop for all the tests of a file. */
export const sharedConnectShop = (): (() => ConnectShop) => startedOnce((t) => startConnectShop(t))
