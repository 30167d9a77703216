import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { newLog } from '../../src/kit/log.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { readDueAccounts } from '../../src/payouts/accounts/due.ts'
import { openProcessors } from '../../src/processors/open.ts'
import type { Outcome } from '../stand-ins/stripe-bank.ts'
import { newBrowser } from './seller.ts'
import { type Ends, eventually } from './shop.ts'
import { intentOf, startStripeShop } from './stripe-shop.ts'

export const OPERATOR = 'olga@operator.test'
export type ConnectShop = Awaited<ReturnType<typeof startConnectShop>>

/** A shop where sellers have accounts of their own at Stripe, and a server that speaks for Stripe. */
export async function startConnectShop(t: Ends) {
  const { shop, server } = await startStripeShop(t, { env: { PAYOUTS: 'stripe-connect', OPERATORS: OPERATOR } })
  const { connect } = server
  const appUrl = 'https://shop.test'
  const openAll = () =>
    openProcessors({ ...shop.config, sandbox: () => assert.fail('there is no sandbox') }, newLog('silent'))

  const own = {
    shop,
    server,
    connect,

    /** A seller who has just signed in, with one product. */
    async seller(email?: string) {
      const browser = newBrowser(shop)
      const answer = await browser.signInByCode(email)
      const { id } = answer.body.seller as { id: string }
      return { id, browser, productId: await shop.product({ sellerId: id }) }
    },

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

    /** An order at a seller's account, for which the buyer has paid. */
    async paid(seller: { productId: string; bank: { confirm: (id: string, how: { outcome: Outcome }) => unknown } }) {
      const order = await shop.checkout({ productId: seller.productId })
      seller.bank.confirm(intentOf(order), { outcome: 'succeed' })
      await shop.until(order.orderId, ({ paid }) => paid)
      return order
    },

    /** What the service returned of its fee, at Stripe, once it is `wanted`. */
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
      const banks = connect.accounts.map((account) => connect.bankOf(account['id']))
      return banks.flatMap(({ charges }) => charges).find((one) => one['payment_intent'] === id)?.['id']
    },

    /** Differences between the books, the orders and what Stripe lists for every account. */
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
        payer: 'stripe',
        log: newLog('silent'),
        appUrl,
      })
    },
  }
  return own
}
