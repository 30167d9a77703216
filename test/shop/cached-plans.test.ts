import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connect } from '../../src/kit/database.ts'
import { owedOf } from '../../src/payouts/owed.ts'
import { sessionFinder } from '../../src/sellers/sessions.ts'
import { listOrders } from '../../src/shop/orders.ts'
import { atEnd } from '../support/ends.ts'
import { newBrowser, newMailbox, sessionToken } from '../support/seller.ts'
import { sharedShop } from '../support/shop.ts'

const shared = sharedShop()
/** PostgreSQL plans a statement anew for its first five values before it compares the costs. */
const CUSTOM_PLANS = 5

test('the statements of most requests of a seller keep their plan: to plan them takes longer than to run them', async (t) => {
  const shop = shared()
  const browser = newBrowser(shop)
  const { seller } = (await browser.signInByCode(newMailbox())).body
  // a seller among others, who has fewer transfers and orders than the average, and many sessions
  const [productId, otherProductId] = [await shop.product({ sellerId: seller.id }), await shop.product()]
  await sql`
    insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
    select kind, 'many ' || n, 'ord_' || n, replace(debit, '?', owner), replace(credit, '?', owner), amount, 'USD', now() - n * interval '3 hours'
    from generate_series(1, 3000) n, lateral (select case when n % 100 = 0 then ${`seller:${seller.id}`}::text else 'seller:' || n % 30 end) o(owner),
      (values ('sale', 'processor:sandbox', '?', 1900), ('fee', '?', 'fees', 38)) as v(kind, debit, credit, amount)`.execute(
    shop.db,
  )
  await sql`
    insert into sessions (id, token_hash, seller_id, method)
    select 'ses_' || lpad(n::text, 26, '0'), sha256(n::text::bytea), ${seller.id}, 'code' from generate_series(1, 3000) n`.execute(
    shop.db,
  )
  await sql`
    insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor, expires_at)
    select 'ord_' || lpad(n::text, 26, '0'), p.id, p.seller_id, 'bob@example.com', 'A book', 1900, 'USD', 38, 'TILL* A BOOK', now() + interval '1 day'
    from generate_series(1, 3000) n join products p on p.id = case when n % 30 = 0 then ${productId} else ${otherProductId} end`.execute(
    shop.db,
  )
  await sql`analyze`.execute(shop.db)
  const { db, close } = connect({ connectionString: shop.databaseUrl }, { connections: 1 })
  atEnd(t, close)
  const findSession = sessionFinder(db)
  for (let time = 0; time < 2 * CUSTOM_PLANS; time++) {
    assert.equal((await findSession(sessionToken(browser)))?.seller.id, seller.id)
    assert.equal((await owedOf(db, seller.id, 7))[0]?.balance, 30 * 1862)
    assert.equal((await listOrders(db, seller.id, {}, { after: undefined, limit: 50 })).length, 50)
  }
  const { rows } = await sql<{ statement: string; customPlans: number }>`
    select left(statement, 80) as statement, custom_plans::int as "customPlans" from pg_prepared_statements`.execute(db)
  assert.equal(rows.length, 3)
  for (const { statement, customPlans } of rows) assert.equal(customPlans, CUSTOM_PLANS, statement)
})

test('a request’s connection starts no parallel workers and compiles no statement; one for long statements may', async (t) => {
  const givenBy = async (patient: boolean) => {
    const { db, close } = connect({ connectionString: shared().databaseUrl }, { connections: 1, patient }) // oxfmt-ignore
    atEnd(t, close)
    const { rows } = await sql<{ given: string }>`
      select name || ' ' || setting as given from pg_settings
      where name in ('jit', 'max_parallel_workers_per_gather') and source = 'client' order by name`.execute(db)
    return rows.map(({ given }) => given)
  }
  assert.deepEqual(await givenBy(false), ['jit off', 'max_parallel_workers_per_gather 0'])
  assert.deepEqual(await givenBy(true), [])
})
