import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { newLog } from '../../src/kit/log.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { storedPayments } from '../../src/payments/stored-payments.ts'
import { readDueAccounts } from '../../src/payouts/accounts/due.ts'
import type { Payer } from '../../src/payouts/accounts/payers.ts'
import { openProcessors } from '../../src/processors/open.ts'
import type { NewProduct } from '../../src/products/products.ts'
import { newBrowser } from './seller.ts'
import { type TestShop, eventually } from './shop.ts'

export const OPERATOR = 'olga@operator.test'

/** The tools of a shop whose sellers have accounts of their own at a processor, whichever it is. */
export function accountShop(shop: TestShop, payer: Payer) {
  const openAll = () =>
    openProcessors(
      { ...shop.config, sandbox: () => assert.fail('there is no sandbox'), stored: storedPayments(shop.db) },
      newLog('silent'),
    )
  const own = {
    shop,
    openAll,

    /** A seller who has just signed in, with one product. */
    async newSeller(email?: string, product: Partial<NewProduct> = {}) {
      const browser = newBrowser(shop)
      const answer = await browser.signInByCode(email)
      const seller = answer.body.seller as { id: string; email: string }
      return { ...seller, browser, productId: await shop.product({ sellerId: seller.id, ...product }) }
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

    async balanceOf(account: string): Promise<number> {
      const { rows } = await sql<{ minor: number }>`
        select coalesce(sum(case when credit_account = ${account} then amount_minor else -amount_minor end), 0)::bigint as minor
        from transfers where ${account} in (credit_account, debit_account)`.execute(shop.db)
      return rows[0]!.minor
    },

    refundedMinor: (orderId: string, wanted: number) =>
      eventually(
        async () => {
          const { rows } = await sql<{ minor: number }>`
            select refunded_minor as minor from orders where id = ${orderId}`.execute(shop.db)
          return rows[0]!.minor
        },
        (minor) => minor === wanted,
      ),

    /** Jobs that wait between tries run now: all of a queue, or those of an order. */
    hurry: (queue: string, orderId?: string) =>
      sql`
        with due as (
          update pgboss.job set start_after = now() - interval '1 second'
          where name = ${queue} and state = 'retry' and start_after > now()
            and (${orderId ?? null}::text is null or data->>'orderId' = ${orderId ?? null}) returning name)
        select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), name) from due`.execute(
        shop.db,
      ),

    /** The matter of this kind and of this order that the overview shows the operator. */
    async matterOf(what: string, orderId = '') {
      const operator = newBrowser(shop)
      await operator.signInByCode(OPERATOR)
      const { body } = await operator.call('GET', '/api/operator/attention')
      return body.matters.find((one: { what: string; view: string }) => one.what === what && one.view.endsWith(orderId))
    },

    /** Differences between the books, the orders and the processor's lists, for every account. */
    async differences() {
      const day = 86_400_000
      const { differences, notAsked, notConfigured } = await reconcileBooks({
        database: { connectionString: shop.databaseUrl },
        processors: await openAll(),
        from: new Date(Date.now() - day),
        to: new Date(Date.now() + day),
        graceMs: 0,
      })
      return [...differences, ...notAsked, ...notConfigured]
    },

    /** Waits for the readings of accounts that are under way, and ends the job of the minute. Nothing reads by itself from then on. */
    async untilAllRead() {
      await sql`delete from pgboss.schedule where name = 'read_accounts'`.execute(shop.db)
      await eventually(
        () =>
          sql`
            select from pgboss.job where name in ('read_account', 'read_accounts') and state in ('created', 'retry', 'active')`.execute(
            shop.db,
          ),
        ({ rows }) => rows.length === 0,
      )
    },

    /** Does the same as the job that runs each minute, for accounts that are due now. */
    async readDue() {
      // a job that is under way would take the accounts from this reading, and end later
      await own.untilAllRead()
      await sql`update connected_accounts set due_at = now()`.execute(shop.db)
      await readDueAccounts({
        db: shop.db,
        jobs: shop.jobs,
        processors: await openAll(),
        payer,
        log: newLog('silent'),
        appUrl: 'https://shop.test',
      })
    },
  }
  return own
}
