import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { enqueueSaleMails } from '../../src/orders/sale-mails.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { type Browser, count, newBrowser, newMailbox, pauseIsOver, sharedPair } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually } from '../support/shop.ts'

const pair = sharedPair()
const shared = (): TestShop => pair()[0]

interface Seller {
  sellerId: string
  email: string
  browser: Browser
}

async function newSeller(saleMails?: string): Promise<Seller> {
  const email = newMailbox()
  const sellerId = await ensureSeller(shared().db, { name: 'Ann', email })
  const browser = newBrowser(shared())
  await browser.signInByCode(email)
  if (saleMails) assert.equal((await browser.call('PATCH', '/api/auth/mails', { saleMails })).status, 200)
  return { sellerId, email, browser }
}

async function sale({ sellerId }: Seller, priceMinor = 1900, name = 'A book') {
  const shop = shared()
  const productId = await shop.product({ sellerId, name, priceMinor })
  if (priceMinor > 0) return shop.paid({ productId })
  return (await shop.call('POST', '/api/checkout', { productId, email: 'bob@example.com' })).body
}

/** Every sale is a day older. */
const aDayLater = ({ sellerId }: Seller) =>
  sql`update untold_sales set sold_at = sold_at - interval '1 day' where seller_id = ${sellerId}`.execute(shared().db)

const untold = ({ sellerId }: Seller) => count(shared(), 'untold_sales', sql`seller_id = ${sellerId}`)

/** The mails about sales that a seller has, once those that were enqueued are sent, the newest first. */
async function mailsTo({ email, sellerId }: Seller) {
  await eventually(
    () =>
      count(
        shared(),
        'pgboss.job',
        sql`name = 'sale_mail' and data->>'sellerId' = ${sellerId} and state <> 'completed'`,
      ),
    (waiting) => waiting === 0,
  )
  const mails = await shared().mails(email)
  return mails
    .filter(({ subject }) => !/ is your code /.test(subject))
    .map((mail) => ({ ...mail, text: mail.text.replaceAll('\u00a0', ' ') }))
}
const subjects = async (seller: Seller) => (await mailsTo(seller)).map(({ subject }) => subject)

test('a sale is mailed once, however many rounds run at once, with the seller’s share', async () => {
  const seller = await newSeller()
  const order = await sale(seller)
  await shared().confirm(order, 'repeated_webhook')
  assert.deepEqual(await subjects(seller), [], 'it waits for the next round')
  await Promise.all([0, 1, 0, 1].map((which) => pair()[which]!.enqueueSaleMails()))
  await shared().enqueueSaleMails()
  const [mail, ...more] = await mailsTo(seller)
  assert.deepEqual([mail?.subject, more], ['You made a sale: A book, $19.00', []])
  for (const line of [/Paid +\$19\.00/, /Fee, 2% +-\$0\.38/, /You keep +\$18\.62/, /Buyer +bob@example\.com/])
    assert.match(mail!.text, line)
  assert(mail!.text.includes(`http://shop.test/shop/#/orders/${order.orderId}`))
  assert(mail!.text.includes('http://shop.test/account/#mails'))
  assert.equal(await untold(seller), 0)
})

test('several sales at once are one mail, with sums by currency and the newest listed', async () => {
  const seller = await newSeller()
  for (const price of [1900, 2500]) await sale(seller, price, `Book ${price}`)
  const { db } = shared()
  const yen = await shared().product({ sellerId: seller.sellerId, priceMinor: 500, currency: 'JPY', name: 'Sen' })
  await shared().paid({ productId: yen })
  await shared().enqueueSaleMails()
  const [mail, ...more] = await mailsTo(seller)
  assert.deepEqual([mail?.subject, more], ['You made 3 sales: $44.00, ¥500', []])
  for (const line of [/Sold in USD +\$44\.00 in 2 orders/, /Sold in JPY +¥500 in 1 order/, /Book 2500, \$25\.00/])
    assert.match(mail!.text, line)
  assert.equal(await count(shared(), 'untold_sales'), 0)
  // many more than a mail lists
  await sql`
    with made as (
      insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
        state, rail, expires_at, paid_at)
      select 'ord_' || lpad(n::text, 26, '0'), ${yen}, ${seller.sellerId}, 'bob@example.com', 'Sen', 500, 'JPY', 10, 'TILL SEN',
        'paid', 'card', now(), now() from generate_series(1, 50) n
      returning id, seller_id)
    insert into untold_sales (order_id, seller_id, is_free) select id, seller_id, false from made`.execute(db)
  await shared().enqueueSaleMails()
  const [many] = await mailsTo(seller)
  assert.equal(many!.subject, 'You made 50 sales: ¥25,000')
  assert.equal(many!.text.match(/Sen, ¥500/g)!.length, 20)
  assert.match(many!.text, /The newest 20 of them are listed here\./)
})

test('beyond six mails an hour sales wait and come in one mail', async () => {
  const seller = await newSeller()
  for (let n = 0; n < 9; n++) {
    await sale(seller)
    await shared().enqueueSaleMails()
  }
  assert.deepEqual(
    await subjects(seller),
    Array.from({ length: 6 }, () => 'You made a sale: A book, $19.00'),
  )
  assert.equal(await untold(seller), 3)
  await pauseIsOver(shared(), `sale_mail:${seller.sellerId}`)
  await shared().enqueueSaleMails()
  assert.equal((await subjects(seller))[0], 'You made 3 sales: $57.00')
  assert.equal(await untold(seller), 0)
})

test('a daily mail comes once a day, free orders only in it, and sellers who want none get none', async () => {
  const [daily, each, off] = [await newSeller('daily'), await newSeller('each'), await newSeller('off')]
  for (const seller of [daily, each, off]) {
    await sale(seller, 1000)
    await sale(seller, 0)
  }
  await shared().enqueueSaleMails()
  assert.deepEqual(await subjects(daily), [])
  assert.deepEqual(await subjects(each), ['You made a sale: A book, $10.00'])
  assert.deepEqual([await subjects(off), await untold(off)], [[], 0])
  await aDayLater(daily)
  await aDayLater(each)
  await shared().enqueueSaleMails()
  await shared().enqueueSaleMails()
  const [mail, ...more] = await mailsTo(daily)
  assert.deepEqual([mail?.subject, more], ['You made 2 sales: $10.00', []])
  assert.match(mail!.text, /Sold in USD +\$10\.00 in 1 order\n.*Free orders +1\n/)
  assert.equal((await subjects(each))[0], 'A free order: A book')
})

test('a late payment has a mail of its own and no other, and an unsold order has none', async () => {
  const seller = await newSeller()
  const productId = await shared().product({ sellerId: seller.sellerId })
  const late = await shared().checkout({ productId })
  await sql`update orders set state = 'expired' where id = ${late.orderId}`.execute(shared().db)
  await shared().confirm(late)
  await shared().until(late.orderId, ({ paid }) => paid)
  const declined = await shared().checkout({ productId })
  await shared().confirm(declined, 'decline')
  assert.equal(await untold(seller), 0)
  await eventually(
    () => subjects(seller),
    (told) => told.length > 0,
  )
  assert.deepEqual(await subjects(seller), ['Paid after it expired: A book'])
  assert.match((await mailsTo(seller))[0]!.text, /the buyer has the files\. There is nothing to do\./)
})

test('the mail about a late payment says so when the files were recalled before', async () => {
  const seller = await newSeller()
  const productId = await shared().product({ sellerId: seller.sellerId })
  const late = await shared().checkout({ productId })
  await sql`update orders set state = 'expired' where id = ${late.orderId}`.execute(shared().db)
  await sql`
    insert into withdrawn_files (seller_id, sha256, reason, buyers_told_at)
    select ${seller.sellerId}, sha256, 'A virus.', now() from files where product_id = ${productId}`.execute(
    shared().db,
  )
  await shared().confirm(late)
  const [mail] = await eventually(
    () => mailsTo(seller),
    (mails) => mails.length > 0,
  )
  assert.match(mail!.text, /files were recalled before, so the buyer has nothing\. Refund the order\./)
})

test('when the mail cannot be enqueued, the sale waits for the next round', async () => {
  const seller = await newSeller()
  await sale(seller)
  const dying = {
    add: () => Promise.reject(new Error('died')),
  }
  await assert.rejects(enqueueSaleMails(shared().db, dying as never), /died/)
  assert.equal(await untold(seller), 1)
  await shared().enqueueSaleMails()
  assert.deepEqual(await subjects(seller), ['You made a sale: A book, $19.00'])
})

test('a seller sets only the own choice, to one of the three values', async () => {
  const seller = await newSeller()
  const other = await newSeller()
  const get = async ({ browser }: Seller) => (await browser.call('GET', '/api/auth/mails')).body
  assert.deepEqual(await get(seller), { saleMails: 'each' })
  assert.deepEqual((await seller.browser.call('PATCH', '/api/auth/mails', { saleMails: 'off' })).body, {
    saleMails: 'off',
  })
  assert.deepEqual([await get(seller), await get(other)], [{ saleMails: 'off' }, { saleMails: 'each' }])
  for (const body of [{}, { saleMails: 'weekly' }, { saleMails: null }, { saleMails: ['off'] }])
    assertProblem(await seller.browser.call('PATCH', '/api/auth/mails', body), 400, 'validation_failed')
  for (const method of ['GET', 'PATCH'])
    assertProblem(await newBrowser(shared()).call(method, '/api/auth/mails', method === 'PATCH' ? { saleMails: 'off' } : undefined), 401, 'not_signed_in') // oxfmt-ignore
})
